import { Command } from 'commander';
import type { Io } from './io.ts';
import { noDaemonOption, noNetworkOption, trustOption } from './judge.ts';
import { collect, integerBetween, modeOption } from './options.ts';
import type { ServeFlags } from './service.ts';

const EXAMPLES = `
Examples:
  signalbox serve
  signalbox serve --port 0 --root ~/src --root /srv/data
  signalbox serve --host 0.0.0.0 --token-file token
  signalbox serve --socket /run/user/1000/signalbox --classify-only

It listens on this machine only, unless a token file is given: then every
request must carry the token. SIGTERM and Ctrl-C let running commands end first.
Every setting has an environment variable and a place in the configuration
file: docs/http.md.`;

/** `signalbox serve`: the HTTP service, until a signal ends it. */
export function serveCommand(io: Io): Command {
  return new Command('serve')
    .summary('serve verdicts and batches over HTTP')
    .description('Serves verdicts and batches over HTTP, on this machine only unless told otherwise.')
    .option('--port <number>', 'port to listen on; 0 takes a free one (default: 7311)', integerBetween(0, 65_535))
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--socket <path>', 'Unix socket to listen on instead of an address')
    .option('--socket-mode <mode>', 'rights of the socket, in octal digits (default: 600)')
    .option('--classify-only', 'only judge: take no batches, run nothing')
    .option('--token-file <file>', 'file that holds the bearer token, or the hashes of several')
    .option('--root <directory>', 'where commands may run; may be repeated (default: here)', collect)
    .addOption(modeOption())
    .addOption(trustOption())
    .addOption(noNetworkOption())
    .addOption(noDaemonOption())
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .option('--config <file>', 'configuration file, JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: ServeFlags) => {
      // Loaded only when it runs: help and complaints about flags come at once.
      const { startService } = await import('./service.ts');
      await startService(io, flags);
    });
}
