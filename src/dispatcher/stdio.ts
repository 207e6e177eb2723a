import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { closeQuietly, type OpenPipe, type PipeSource } from './pipe-source.ts';

/** What the command is given for its three streams, as node's `spawn` takes it. */
export type StdioOption = 'ignore' | 'pipe' | number;

/** Our ends. */
export type Streams = { readonly stdin: Writable | null; readonly stdout: Readable; readonly stderr: Readable };

type Child = { readonly stdin: Writable | null; readonly stdout: Readable | null; readonly stderr: Readable | null };

export type Stdio = {
  readonly option: readonly [StdioOption, StdioOption, StdioOption];
  /** After the start: our ends, and the command's ends are its own alone. Null when it has none. */
  readonly attach: (child: Child) => Streams | null;
  /** When nothing was started. */
  readonly abandon: () => void;
};

/** Real pipes where they can be had, else what node makes itself. Standard input is the null device unless it is wanted. */
export function prepareStdio(source: PipeSource | null, wantsInput: boolean): Stdio {
  const opened: OpenPipe[] = [];
  const take = (ours: 'read' | 'write'): OpenPipe | null => {
    const pipe = source?.open(ours) ?? null;
    if (pipe !== null) opened.push(pipe);
    return pipe;
  };
  const stdout = take('read');
  const stderr = take('read');
  const stdin = wantsInput ? take('write') : null;
  const abandon = (): void => {
    for (const { readEnd, writeEnd } of opened) for (const end of [readEnd, writeEnd]) closeQuietly(end);
  };
  if (stdout === null || stderr === null || (wantsInput && stdin === null)) {
    abandon();
    return { option: [wantsInput ? 'pipe' : 'ignore', 'pipe', 'pipe'], attach: ownStreams, abandon: () => {} };
  }
  const attach = (): Streams => {
    for (const theirs of [stdout.writeEnd, stderr.writeEnd]) closeQuietly(theirs);
    if (stdin !== null) closeQuietly(stdin.readEnd);
    return {
      stdin: stdin === null ? null : new Socket({ fd: stdin.writeEnd, readable: false, writable: true }),
      stdout: new Socket({ fd: stdout.readEnd, readable: true, writable: false }),
      stderr: new Socket({ fd: stderr.readEnd, readable: true, writable: false }),
    };
  };
  return { option: [stdin === null ? 'ignore' : stdin.readEnd, stdout.writeEnd, stderr.writeEnd], attach, abandon };
}

function ownStreams({ stdin, stdout, stderr }: Child): Streams | null {
  return stdout === null || stderr === null ? null : { stdin, stdout, stderr };
}
