import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { type Config, loadConfig } from '../config.ts';
import type { Mode } from '../dispatcher/types.ts';
import { buildServer, createMetrics, createServiceDispatcher, createServiceJudge, listen } from '../server.ts';
import { VERSION } from '../version.ts';
import { complaint } from './complaint.ts';
import type { Io } from './io.ts';
import type { JudgeFlags } from './judge.ts';
import { rulesWith } from './rules.ts';
import { type SampleTarget, sampleRequest } from './sample-request.ts';

/** What the command line read for `signalbox serve`. */
export type ServeFlags = JudgeFlags & {
  readonly mode?: Mode;
  readonly port?: number;
  readonly host?: string;
  readonly socket?: string;
  readonly socketMode?: string;
  readonly classifyOnly?: true;
  readonly tokenFile?: string;
  readonly root?: readonly string[];
  readonly rules?: readonly string[];
  readonly config?: string;
};

/** Time that the process gets beyond the service's own deadline before it is cut off. */
const LAST_MS = 2_000;

/** Where the printed request runs its commands: here, if the service may run anything here. */
function sampleDirectory(cwd: string, roots: Config['roots']): string {
  const isInside = roots.some((root) => {
    const path = relative(root, cwd);
    return path !== '..' && !path.startsWith('../');
  });
  return isInside ? cwd : (roots[0] ?? cwd);
}

/** A bare token can be read from its file; of those that the file has hashes of, whoever asks has one. */
function sampleToken(path: string | null): SampleTarget['token'] {
  if (path === null) return null;
  return /^\S+\s*$/.test(readFileSync(path, 'utf8')) ? { file: path } : { variable: 'SIGNALBOX_TOKEN' };
}

/** Serves until a signal ends it. Throws CONFIG_INVALID, RULES_INVALID and BIND_FAILED. */
export async function startService(io: Io, flags: ServeFlags): Promise<void> {
  const { port, host, socket, socketMode, tokenFile, root, rules: extra, config: file, mode } = flags;
  const { classifyOnly, trustRepository, network, daemon } = flags;
  const config = loadConfig({
    cwd: io.cwd,
    env: io.env,
    ...(file === undefined ? {} : { file }),
    flags: {
      port,
      host,
      socket,
      'socket-mode': socketMode,
      'classify-only': classifyOnly && 'true',
      'token-file': tokenFile,
      roots: root,
      rules: extra,
      mode,
      repositories: trustRepository && 'trust',
      'allow-network': network ? undefined : 'false',
      'allow-daemon': daemon ? undefined : 'false',
    },
  });
  const rules = await rulesWith(config.rules, io.cwd);
  const metrics = createMetrics({ version: VERSION, ruleset: rules.hash });
  const dispatcher = createServiceDispatcher(config, rules, io.env, metrics.observe);
  const app = await buildServer({
    config,
    dispatcher,
    judge: createServiceJudge(config, rules, io.env),
    ruleset: rules.hash,
    version: VERSION,
    metrics,
  });
  const { url } = await listen(app, config);
  closeWithGrace({ delay: config.shutdown.deadlineMs + LAST_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) process.stderr.write(complaint(err));
    await app.close();
  });

  const sample = sampleRequest({
    address: url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:'),
    directory: sampleDirectory(io.cwd, config.roots),
    scratchFile: join(tmpdir(), `signalbox-${randomBytes(4).toString('hex')}.txt`),
    socket: config.socket,
    classifyOnly: config.classifyOnly,
    token: sampleToken(config.tokenFile),
  });
  const where = config.socket ?? url;
  await io.stdout.write(
    `Signalbox ${VERSION} listens on ${where}${config.socket === null ? ` (documentation: ${url}/docs)` : ''}.\n` +
      (config.classifyOnly ? 'It only judges' : `Commands run in ${config.roots.join(', ')}, and below`) +
      `. Ctrl-C ends the service.\n\n` +
      `To try it, paste this into another terminal:\n\n${sample}\n\n`,
  );
}
