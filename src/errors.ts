/**
 * The one error class of the project and the one table of its codes. A bad command is a verdict, never an error;
 * these are for misuse (a bad option, a bad rule file, a bad request) and for what went wrong while running.
 */

type Entry = { readonly status: number; readonly title: string };

/** Every code: the HTTP status it is answered with and its stable title. Anchors in docs/errors.md carry the same names. */
const TABLE = {
  OPTION_INVALID: { status: 400, title: 'An option has a value that is not allowed' },
  RULES_INVALID: { status: 500, title: 'A rule file is not valid' },
  CONFIG_INVALID: { status: 500, title: 'The configuration is not valid' },
  REQUEST_INVALID: { status: 400, title: 'The request is not valid' },
  BODY_NOT_JSON: { status: 400, title: 'The body is not JSON' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is larger than allowed' },
  LINE_TOO_LONG: { status: 413, title: 'A line of the body is longer than allowed' },
  MEDIA_TYPE_REFUSED: { status: 415, title: 'The content type is not accepted' },
  NOT_ACCEPTABLE: { status: 406, title: 'No representation fits the Accept header' },
  COMMANDS_EMPTY: { status: 400, title: 'A batch needs at least one command' },
  COMMANDS_TOO_MANY: { status: 400, title: 'More commands than the limit' },
  COMMAND_ID_DUPLICATE: { status: 400, title: 'Two commands of a batch have the same id' },
  COMMAND_ID_CONFLICT: { status: 409, title: 'Another command of the batch has this id' },
  COMMAND_HAS_NUL: { status: 400, title: 'A command holds a NUL character' },
  COMMAND_EMPTY: { status: 400, title: 'A command has no text' },
  TEXT_UNREPRESENTABLE: { status: 400, title: 'A text cannot be handed over as UTF-8' },
  DIRECTORY_MISSING: { status: 400, title: 'The working directory does not exist' },
  DIRECTORY_OUTSIDE_ROOTS: { status: 403, title: 'The working directory lies outside the configured roots' },
  DIRECTORY_CONTAINS_ROOT: { status: 403, title: 'The working directory contains a configured root' },
  HOST_REFUSED: { status: 421, title: 'The Host header does not name this service' },
  ORIGIN_REFUSED: { status: 403, title: 'The Origin header is not allowed' },
  TOKEN_MISSING: { status: 401, title: 'A bearer token is needed' },
  TOKEN_REFUSED: { status: 401, title: 'The bearer token is not accepted' },
  TOKEN_EXPIRED: { status: 401, title: 'The bearer token has expired' },
  SCOPE_MISSING: { status: 403, title: 'The bearer token may not do this' },
  CLASSIFY_ONLY: { status: 403, title: 'The service runs nothing' },
  BATCH_UNKNOWN: { status: 404, title: 'No batch has this id' },
  BATCH_FOREIGN: { status: 403, title: 'The batch belongs to another token' },
  BATCH_GONE: { status: 410, title: 'The batch is no longer kept' },
  BATCHES_TOO_MANY: { status: 429, title: 'Too many batches have not ended' },
  STREAMS_TOO_MANY: { status: 429, title: 'Too many streams are open' },
  RATE_LIMITED: { status: 429, title: 'Too many requests in a minute' },
  QUEUE_FULL: { status: 429, title: 'Too many commands wait' },
  ROUTE_UNKNOWN: { status: 404, title: 'There is nothing at this address' },
  METHOD_REFUSED: { status: 405, title: 'The method is not allowed here' },
  URL_MALFORMED: { status: 400, title: 'The address cannot be read' },
  HTTP_MALFORMED: { status: 400, title: 'The message is not HTTP' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The header fields are larger than allowed' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  EXPECTATION_REFUSED: { status: 417, title: 'The Expect header asks for something unknown' },
  VOUCH_WITHOUT_KEYS: { status: 400, title: 'A command is vouched for without a key of its own' },
  APPROVAL_UNKNOWN: { status: 404, title: 'No command of the batch with this id asks' },
  APPROVAL_CONFLICT: { status: 409, title: 'The command has another answer' },
  BATCH_CLOSED: { status: 409, title: 'The batch takes no more commands' },
  SHUTTING_DOWN: { status: 503, title: 'The service is shutting down' },
  LIST_UNREADABLE: { status: 400, title: 'The batch file cannot be read' },
  ANSWER_UNEXPECTED: { status: 502, title: 'The answer is not one that the client understands' },
  BIND_FAILED: { status: 500, title: 'The service cannot listen on the address' },
  LOCK_CYCLE: { status: 409, title: 'Waiting for this lock would never end' },
  LOCK_UPGRADE: { status: 409, title: 'A nested hold asks for more than its ancestors hold' },
  JOURNAL_FULL: { status: 507, title: 'The disk of the journal is full' },
  JOURNAL_FAILED: { status: 500, title: 'The journal cannot be read or written' },
  JOURNAL_CORRUPT: { status: 500, title: 'The journal is damaged' },
  JOURNAL_HELD: { status: 500, title: 'Another process has the journal open' },
  INTERNAL: { status: 500, title: 'Something went wrong inside Signalbox' },
} as const satisfies Record<string, Entry>;

/** A stable, public code. Callers switch on it, never on a message. */
export type ErrorCode = keyof typeof TABLE;

/** All codes, in the order of the table. */
export const ERROR_CODES: readonly ErrorCode[] = Object.freeze(Object.keys(TABLE) as ErrorCode[]);

/** Where in the input the fault lies, as a JSON pointer (`/commands/3/cwd`), when it lies in one place. */
export type ErrorOptions = {
  readonly cause?: unknown;
  readonly pointer?: string;
  readonly hint?: string;
  /** Every fault that was found, when there may be several; `pointer` is then the first one's. */
  readonly faults?: readonly Fault[];
};

/** One fault of an input: where (a JSON pointer into the body, or absent for a query or a header), and what. */
export type Fault = { readonly pointer?: string; readonly detail: string };

/**
 * An error with a stable `code`. The message says what was expected, what came, and where.
 *
 * @example
 * throw new SignalboxError('OPTION_INVALID', 'Expected maxParallel to be an integer from 1 to 256, got 0');
 */
export class SignalboxError extends Error {
  override readonly name = 'SignalboxError';
  readonly code: ErrorCode;
  readonly pointer: string | undefined;
  readonly hint: string | undefined;
  readonly faults: readonly Fault[];

  constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.pointer = options.pointer;
    this.hint = options.hint;
    this.faults = options.faults ?? [];
  }

  /** The HTTP status that this error is answered with. */
  get status(): number {
    return TABLE[this.code].status;
  }

  /** The stable title of this error's code. */
  get title(): string {
    return TABLE[this.code].title;
  }
}
