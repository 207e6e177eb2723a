/** The ways in which programs read their options. A rule file names one; see docs/rules.md for which is whose. */
export const SYNTAX_NAMES = ['getopt', 'no-clusters', 'pflag', 'go', 'words', 'spaced'] as const;

export type SyntaxName = (typeof SYNTAX_NAMES)[number];

export type Syntax = {
  /** `-abc` is `-a -b -c`. */
  readonly clusters: boolean;
  /** `-nVALUE`. */
  readonly joined: boolean;
  /** `--name=VALUE`. */
  readonly equals: boolean;
  /** `-n=VALUE` means the same as `-nVALUE`; and a short option's optional value is given only so. */
  readonly shortEquals: boolean;
  /** `--name` and `-name` are one option. */
  readonly eitherDash: boolean;
  /** Options end at the first operand. */
  readonly stops: boolean;
  /** `--` ends the options. */
  readonly dashes: boolean;
};

const GETOPT: Syntax = Object.freeze({
  clusters: true,
  joined: true,
  equals: true,
  shortEquals: false,
  eitherDash: false,
  stops: false,
  dashes: true,
});

/** What each name means. The next word is a value in all of them. */
export const SYNTAXES: Readonly<Record<SyntaxName, Syntax>> = Object.freeze({
  getopt: GETOPT,
  'no-clusters': Object.freeze({ ...GETOPT, clusters: false }),
  pflag: Object.freeze({ ...GETOPT, shortEquals: true }),
  go: Object.freeze({ ...GETOPT, clusters: false, joined: false, eitherDash: true, stops: true }),
  words: Object.freeze({ ...GETOPT, clusters: false, joined: false, equals: false, dashes: false }),
  spaced: Object.freeze({ ...GETOPT, joined: false, equals: false }),
});
