import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, isLoopback } from '../config.ts';
import { SignalboxError } from '../errors.ts';
import { listenOnSocket } from './unix-socket.ts';

/** Where the service can be reached: over a Unix socket any address leads to it, and host and port are of no account. */
export type Listening = {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly socket: string | null;
};

/** Listens where the configuration says. Throws BIND_FAILED, saying why and what to do. */
export async function listen(
  app: FastifyInstance,
  config: Pick<Config, 'host' | 'port' | 'tokenFile' | 'socket' | 'socketMode'>,
): Promise<Listening> {
  if (config.socket !== null) {
    await listenOnSocket(app, config.socket, Number.parseInt(config.socketMode, 8));
    return { url: 'http://localhost', host: 'localhost', port: 80, socket: config.socket };
  }
  // One socket: Fastify would open one for each address of the name, and the drain would not see them all.
  const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
  try {
    await app.listen({ host, port: config.port, listenTextResolver: (address) => `listening at ${address}` });
  } catch (cause) {
    throw bindFailure(cause, config);
  }
  const { address, port } = app.server.address() as AddressInfo;
  // A name may have resolved to an address that others can reach.
  if (config.tokenFile === null && !isLoopback(address)) {
    await app.close();
    throw new SignalboxError('BIND_FAILED', `Expected a loopback address since there is no token file, got ${address}`);
  }
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    host: address,
    port,
    socket: null,
  };
}

function bindFailure(cause: unknown, { host, port }: Pick<Config, 'host' | 'port'>): SignalboxError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const say = (detail: string, hint: string): SignalboxError =>
    new SignalboxError('BIND_FAILED', detail, { cause, hint });
  switch (code) {
    case 'EADDRINUSE':
      return say(
        `Port ${port} of ${host} is in use by another process`,
        'Choose another with --port, or 0 for any that is free',
      );
    case 'EACCES':
    case 'EPERM':
      return say(
        `There is no permission to listen on port ${port} of ${host}`,
        'Ports below 1024 often need one; choose a higher one with --port',
      );
    case 'EADDRNOTAVAIL':
      return say(`This machine has no address ${host}`, 'Choose another with --host; 127.0.0.1 is always there');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return say(`The name ${host} leads to no address`, 'Give an address with --host');
    default:
      return say(`Cannot listen on port ${port} of ${host}: ${message}`, 'Choose others with --host and --port');
  }
}
