import { z } from 'zod';

/** What a command of the service sees of the server's environment unless configured otherwise: nothing secret by name. */
const DEFAULT_ENVIRONMENT = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
] as const;

const DAY_MS = 86_400_000;
const text = z.string().min(1);
const positive = (most: number) => z.int().min(1).max(most);
const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Expected the name of an environment variable');
const origin = z
  .string()
  .regex(/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/, 'Expected an origin such as http://localhost:3000');
const hostName = z.string().regex(/^[^\s/@]+$/, 'Expected a host name, with a port if the header has one');

/** The single definition of the configuration file, and of every default. */
export const configSchema = z
  .strictObject({
    host: text.default('127.0.0.1').describe('The address to listen on. Any but a loopback address needs a token file'),
    port: z.int().min(0).max(65_535).default(7311).describe('The port to listen on; 0 takes a free one'),
    socket: text
      .nullable()
      .default(null)
      .describe('A Unix socket to listen on instead of an address; who may write the file may connect'),
    socketMode: z
      .string()
      .regex(/^[0-7]{3}$/, 'Expected three octal digits such as 600')
      .default('600')
      .describe('The rights of that file, in octal digits'),
    classifyOnly: z.boolean().default(false).describe('Only judges: no batch is taken, nothing is run'),
    roots: z
      .array(text)
      .min(1)
      .optional()
      .describe('Directories that every working directory must lie in. Default: where the server was started'),
    rules: z.array(text).default([]).describe('Further rule files, or directories of them'),
    repositories: z
      .enum(['probe', 'trust'])
      .default('probe')
      .describe('Whether repositories are looked at for programs that they configure, before they are read'),
    mode: z
      .enum(['simple', 'compound'])
      .default('simple')
      .describe('How commands are read unless a request says otherwise: simple, or compound (lists and pipelines too)'),
    allow: z
      .strictObject({
        network: z.boolean().default(true).describe('Whether readers of the network may be parallel'),
        daemon: z.boolean().default(true).describe('Whether readers that ask a daemon may be parallel'),
      })
      .prefault({}),
    tokenFile: text.nullable().default(null).describe('A file that holds one bearer token, or the hashes of several'),
    allowedHosts: z
      .array(hostName)
      .default([])
      .describe(
        'Values of the Host header to accept besides the loopback names with our port; `name:*` takes any port',
      ),
    allowedOrigins: z.array(origin).default([]).describe('Values of the Origin header to accept'),
    environment: z
      .array(variableName)
      .default([...DEFAULT_ENVIRONMENT])
      .describe('Names of variables of the server that commands may see'),
    logLevel: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info')
      .describe('What is logged to standard error'),
    heartbeatMs: positive(DAY_MS)
      .default(15_000)
      .describe('Milliseconds of silence after which an event stream sends a sign of life'),
    limits: z
      .strictObject({
        maxCommands: positive(1_000_000).default(1_000).describe('Commands of one request, and of one batch'),
        maxBodyBytes: positive(1_073_741_824).default(1_048_576).describe('Bytes of one request body'),
        maxLineBytes: positive(1_073_741_824).default(262_144).describe('Bytes of one line of a body of lines'),
        maxStreamBytes: positive(1_099_511_627_776).default(16_777_216).describe('Bytes of one body of lines'),
        maxIdleMs: positive(DAY_MS)
          .default(60_000)
          .describe('Milliseconds in which something of a body of lines must come'),
        maxWaitSeconds: positive(3_600).default(300).describe('Seconds that `Prefer: wait` may ask for'),
        maxParallel: positive(256)
          .default(10)
          .describe('Commands of one batch that run at once unless it says otherwise'),
        maxRunning: positive(4_096).default(32).describe('Commands of the whole process that run at once'),
        maxLiveBatches: positive(1_000_000).default(64).describe('Batches that have not ended'),
        maxBatchesPerToken: positive(1_000_000)
          .default(32)
          .describe('Batches of one token that have not ended; without tokens everybody is one'),
        maxStreamsPerToken: positive(65_536)
          .default(256)
          .describe('Streams of events, and bodies of lines, of one token that are open at once'),
        maxRequestsPerMinute: positive(1_000_000_000)
          .default(60_000)
          .describe('Requests of one token in a minute, or of one address where there are no tokens'),
        maxQueuedCommands: positive(1_000_000)
          .default(10_000)
          .describe('Commands of all batches that have not started'),
        maxConnections: positive(65_536).default(512).describe('Connections that are open at once; more are closed'),
        timeoutMs: positive(DAY_MS)
          .default(600_000)
          .describe('Milliseconds that a command may run unless it says otherwise'),
        deadlineMs: positive(DAY_MS)
          .default(1_800_000)
          .describe('Milliseconds that a batch may take unless it says otherwise'),
        maxOutputBytes: positive(1_073_741_824).default(1_048_576).describe('Bytes kept of what a command prints'),
        maxBatchOutputBytes: positive(1_073_741_824)
          .default(8_388_608)
          .describe('Bytes kept of what all commands of a batch print'),
      })
      .prefault({}),
    retention: z
      .strictObject({
        maxBatches: positive(1_000_000).default(200).describe('Ended batches that are kept'),
        maxAgeMs: positive(30 * DAY_MS)
          .default(3_600_000)
          .describe('Milliseconds that an ended batch is kept'),
        maxBytes: positive(1_099_511_627_776)
          .default(268_435_456)
          .describe('Bytes that ended batches take in memory; past it the oldest leave, but never the newest'),
      })
      .prefault({}),
    shutdown: z
      .strictObject({
        graceMs: z
          .int()
          .min(0)
          .max(DAY_MS)
          .default(5_000)
          .describe('Milliseconds that running commands get to end by themselves'),
        deadlineMs: positive(DAY_MS).default(9_000).describe('Milliseconds after which connections are cut'),
      })
      .prefault({}),
  })
  .describe('The configuration of `signalbox serve`');

type Loose = z.output<typeof configSchema>;
type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** The configuration as the service uses it: complete, with `roots` as real paths, deeply frozen. */
export type Config = Frozen<Omit<Loose, 'roots'> & { roots: string[] }>;

export type SettingKind = 'text' | 'number' | 'truth' | 'names' | 'paths';
export type Setting = {
  readonly path: readonly string[];
  readonly variable: string;
  readonly flag: string;
  readonly kind: SettingKind;
  readonly description: string;
};

/**
 * Every setting: its place in the file, its environment variable and its flag, all derived from `configSchema`.
 * `names` are separated by commas and `paths` by the platform's path separator in a variable; a flag is repeated.
 */
export const CONFIG_SETTINGS: readonly Setting[] = Object.freeze(
  settings(z.toJSONSchema(configSchema, { io: 'input' }) as Described, []),
);

type Described = {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
};

function settings(schema: Described, path: readonly string[]): Setting[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    if (value.properties !== undefined) return settings(value, [...path, key]);
    const words = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    // Fields of `limits` go by their own name; the same field elsewhere carries its group's.
    const flag = path.length === 0 || path[0] === 'limits' ? words : `${path.join('-')}-${words}`;
    return [
      {
        path: [...path, key],
        variable: `SIGNALBOX_${flag.replaceAll('-', '_').toUpperCase()}`,
        flag,
        kind: kindOf(key, value),
        description: value.description ?? '',
      },
    ];
  });
}

function kindOf(key: string, { type }: Described): SettingKind {
  if (type === 'integer') return 'number';
  if (type === 'boolean') return 'truth';
  if (type !== 'array') return 'text';
  return key === 'roots' || key === 'rules' ? 'paths' : 'names';
}
