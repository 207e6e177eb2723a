import { closeSync, openSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { createSlots } from '../../src/dispatcher/slots.ts';
import type { Owner } from '../../src/dispatcher/tool-locks.ts';
import { judgeByMark, PROFILES } from './judge-by-mark.ts';
import type { LoneAnswer, LoneRequest } from './lone.ts';

/*
 * A dispatcher in a process of its own, of which something can be taken away: descriptors, processes, disk. It does what
 * it is told in lines on standard input, tells what came of it in lines, and ends when there are no more. See lone.ts.
 */

const [cwd = '', user = ''] = process.argv.slice(2);
const lock = new KeyedLock<Owner>();
const slots = createSlots({ limit: 8 });
const dispatcher = createDispatcher({ judge: judgeByMark, profiles: PROFILES, lock, slots, cwd });
// Only now: as somebody else it may not be able to read this repository.
if (user !== '') {
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

const hogged: number[] = [];

async function answer(request: LoneRequest): Promise<LoneAnswer['results']> {
  switch (request.do) {
    case 'take-descriptors':
      takeDescriptors();
      for (const each of hogged.splice(0, request.spare)) closeSync(each);
      return [];
    case 'give-descriptors':
      for (const each of hogged.splice(0)) closeSync(each);
      return [];
    case 'count':
      return [];
    case 'dispatch': {
      const { commands } = await dispatcher.dispatch(request.commands).done;
      return commands.map(({ state, exitCode, stdout, stderr, note }) => ({ state, exitCode, stdout, stderr, note }));
    }
  }
}

function takeDescriptors(): void {
  try {
    for (;;) hogged.push(openSync('/dev/null', 'r'));
  } catch {
    // That was the last one.
  }
}

/** Counted only where there is one to count with. */
const descriptors = (): number => (hogged.length > 0 ? -1 : readdirSync('/proc/self/fd').length);

for await (const line of createInterface({ input: process.stdin })) {
  const results = await answer(JSON.parse(line) as LoneRequest);
  const told: LoneAnswer = { results, locks: lock.size, slots: slots.inUse, descriptors: descriptors() };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
