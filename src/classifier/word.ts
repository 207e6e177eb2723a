/** One word of a command, as bash makes it. Spans are half-open, in UTF-16 code units of the command. */
export type Word = {
  /** The spelling in the command: exactly `command.slice(start, end)`. */
  readonly raw: string;
  /** What bash passes: quotes and escapes removed. For a word with a glob, what it passes when nothing matches. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Length of the beginning of `raw` that is neither quoted nor escaped. `raw.length` for a word without either. */
  readonly plain: number;
  /** True when an unquoted `*`, `?` or `[` stands in it; never for `[` as the command's name. Also true with `home`. */
  readonly glob: boolean;
  /** It begins with an unquoted `~/`, which only a compound may hold; `text` still begins so. */
  readonly home?: true;
};

/** A leading `NAME=LITERAL`. Whether the name and the value are allowed is not decided here. */
export type Assignment = {
  readonly name: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
};

/** A redirection that neither writes nor reads anything. */
export type Redirection = {
  /** Descriptor, operator and target without blanks: `2>/dev/null`. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** The operator between two commands. */
export type Joint = { readonly text: '&&' | '||' | ';' | '|'; readonly start: number; readonly end: number };
