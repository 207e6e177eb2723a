import { z } from 'zod';
import { SYNTAX_NAMES } from '../classifier/syntax.ts';
import { itemOf, partsOf } from '../classifier/usage.ts';
import { REASON_CODES } from '../classifier/verdict.ts';
import { ExceptionSchema, exceptionsFit } from './exception-schema.ts';
import { isCommandName, isSpelling, NAME_SHAPE } from './names.ts';

/**
 * The single definition of a rule file: the types, the JSON Schema and every check of form come from here. Everything
 * is strict: an unknown key is an error, never ignored. What needs more than one entry to decide (a kind that nobody
 * defined, an option declared twice) is checked by the compiler.
 */

const Why = z.string().min(8).meta({ description: 'Why this is true, for a reader who doubts it' });
const Evidence = z.array(z.string().min(3)).min(1).optional();
const Docs = z.url({ error: 'an address (https://…)' });
const CommandName = z.string().refine(isCommandName, NAME_SHAPE);
const Override = z.literal(true).optional().meta({ description: 'Only in files of users: loosens a built-in entry' });

/** `-n, --lines; -q`: a comma between spellings of one option, a semicolon between options that share the entry. */
const OptionKey = z
  .string()
  .refine(
    (key) => key.split('; ').every((option) => option.split(', ').every(isSpelling)),
    'spellings without blanks, `, ` between spellings of one option, `; ` between options, no `=` behind a dash',
  );

const Option = z
  .strictObject({
    why: Why,
    takes: z.union([z.string().min(1), z.array(z.string()).min(1)], { error: 'a kind or a list of words' }).optional(),
    optional: z.literal(true).optional(),
    form: z.enum(['joined', 'spaced']).optional(),
    starts: z.array(CommandName).optional(),
    override: Override,
    evidence: Evidence,
  })
  .refine((option) => option.takes !== undefined || (option.optional ?? option.form) === undefined, {
    error: '`optional` and `form` only beside `takes`',
  })
  .refine((option) => !(option.optional && option.form === 'spaced'), {
    error: 'an optional value is never the next word, so it cannot be `spaced`',
  });
const Options = z.record(OptionKey, Option);

/** A note on what is not listed. It explains, and never decides. */
const Otherwise = Why.optional();

const Value = z
  .strictObject({
    why: Why,
    otherwise: Otherwise.meta({ description: 'What other values do, where that is known to be unsafe' }),
    words: z.array(z.string()).min(1).optional(),
    starts: z.array(z.string().min(1)).min(1).optional(),
    template: z
      .strictObject({
        after: z.array(z.string()).min(1),
        mark: z.string().length(1),
        allow: z.array(z.string().min(1)).min(1),
      })
      .optional(),
  })
  .refine((value) => (value.words ?? value.starts ?? value.template) !== undefined, {
    error: 'one of `words`, `starts`, `template`',
  });

const Operands = z
  .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: 'a kind or a list of words' }))
  .refine((usage) => partsOf(usage).length <= 2, { error: 'at most one "--"' })
  .refine((usage) => partsOf(usage).every((part) => part.filter(isVariable).length <= 1), {
    error: 'at most one item of variable count on each side of "--", so that there is one way to assign words',
  });

const Stdin = z.enum(['never', 'named', 'unless-operand', 'always']);
const Effects = z.enum(['network', 'temporary-files', 'own-log', 'own-cache', 'configured-programs']);
const Observes = z.enum(['files', 'repository', 'index', 'processes', 'environment', 'clock', 'daemon', 'remote']);

const Shape = z
  .strictObject({
    why: Why,
    with: z.array(z.string().min(1)).min(1).optional(),
    without: z.array(z.string().min(1)).min(1).optional(),
    operands: Operands.optional(),
    globs: z.literal(true).optional(),
    stdin: Stdin.optional(),
    override: Override,
    evidence: Evidence,
  })
  .refine(globsFit, { error: '`globs` needs an unbounded last operand' });

const Spelling = z.string().refine(isSpelling, 'one spelling of an option');

const Delegate = z
  .strictObject({
    command: CommandName,
    exactly: z.array(z.string()).optional().meta({ description: 'The words behind it; `NUMBER` stands for digits' }),
    ends: z.literal('--').optional(),
    after: z.array(z.string().min(1)).min(1).optional().meta({
      description:
        'The listings of `after` of its node, behind one of which alone it may stand, with nothing between; without it, behind all',
    }),
    without: z.array(Spelling).min(1).optional().meta({ description: 'Options of its node with which it is not run' }),
    why: Why,
  })
  .refine((delegate) => (delegate.exactly === undefined) !== (delegate.ends === undefined), {
    error: 'one of `exactly` and `ends`',
  });

/** An option, or one with the values that it may have. */
const Feeders = z
  .record(z.string().min(1), z.array(z.union([Spelling, z.record(Spelling, z.array(z.string()).min(1))])))
  .refine((feeders) => Object.keys(feeders).length > 0, { error: 'at least one rule' });

const Expression = z.strictObject({
  open: z.array(z.string()).optional(),
  close: z.array(z.string()).optional(),
  not: z.array(z.string()).optional(),
  join: z.array(z.string()).optional(),
  leading: z.array(z.string()).optional().meta({ description: 'Options that stand before the operands' }),
  implicitJoin: z.literal(true).optional(),
  operandsFirst: z.literal(true).optional(),
});

const anyNode = {
  why: Why,
  syntax: z.enum(SYNTAX_NAMES).optional(),
  use: z.array(z.string().min(1)).min(1).optional(),
  options: Options.optional(),
  operands: Operands.optional(),
  globs: z.literal(true).optional(),
  shapes: z.array(Shape).min(1).optional(),
  dashes: z.literal('text').optional(),
  expression: Expression.optional(),
  effects: z.array(Effects).optional(),
  observes: z.array(Observes).optional(),
  starts: z.array(CommandName).optional(),
  profile: z.string().min(1).optional(),
  delegates: z.array(Delegate).min(1).optional(),
  after: Feeders.optional().meta({
    description:
      'Rules, as paths, each with the options with which it prints nothing but names of files it found: only their stages may feed it',
  }),
  through: Feeders.optional().meta({
    description:
      'Rules, as paths, each with the options with which it passes on whole lines of what it reads, behind a pipe and without a file',
  }),
  headings: z.record(z.string().min(1), z.array(Spelling)).optional().meta({
    description:
      'Rules of `after` that print a heading for each of several places, each with the options that keep it from that',
  }),
  nul: z
    .record(
      z.string().min(1),
      z.strictObject({ with: z.array(Spelling).min(1), unless: z.array(Spelling).min(1).optional() }),
    )
    .optional()
    .meta({
      description:
        'How it and the rules of `after` and `through` are told to end names with NUL: all of a pipeline, or none; `unless` ends some with a newline',
    }),
  refuses: z.record(OptionKey, Why).optional(),
  otherwise: Otherwise.meta({
    description: 'What it does with operands of no shape, where that is known to be unsafe',
  }),
  bare: Why.optional().meta({ description: 'What it does without a subcommand, where it is not proved so' }),
  override: Override,
  evidence: Evidence,
};

const NODE_FORMS = {
  error:
    'one of `operands`, `shapes`, `delegates`; with `subcommands` no operands of its own (`[]` where it may stand alone)',
};

type SubcommandFields = z.infer<z.ZodObject<typeof anyNode>> & {
  docs: string;
  stdin?: z.infer<typeof Stdin> | undefined;
  subcommands?: Record<string, SubcommandFields> | undefined;
};

/** A subcommand at any depth. */
const Subcommand: z.ZodType<SubcommandFields> = z
  .strictObject({
    ...anyNode,
    docs: Docs,
    stdin: Stdin.optional(),
    get subcommands(): z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodType<SubcommandFields>>> {
      return z.record(z.string().min(1), Subcommand).optional();
    },
  })
  .refine(isOneForm, NODE_FORMS)
  .refine(globsFit, { error: '`globs` needs an unbounded last operand' });

/** The command itself. `stdin` is required, so that it is always a decision. */
const Root = z
  .strictObject({ ...anyNode, stdin: Stdin, subcommands: z.record(z.string().min(1), Subcommand).optional() })
  .refine(isOneForm, NODE_FORMS)
  .refine(globsFit, { error: '`globs` needs an unbounded last operand' });

const Command = z.string();
const SerialExample = z.strictObject({ command: Command, code: z.enum(REASON_CODES) });

export const RuleFileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    schema: z.literal(1),
    binary: CommandName,
    also: z.array(CommandName).min(1).optional(),
    docs: Docs,
    reviewed: z.strictObject({
      version: z.string().min(1),
      on: z.iso.date({ error: 'a date (2026-11-30)' }),
      how: z.string().min(8),
      proved: z.enum(['execution', 'client', 'no']).optional().meta({
        description:
          'Whether its parallel examples were run under strace: `client`, only as far as the connection to what answers; `no`, and `how` says why',
      }),
    }),
    maturity: z.enum(['stable', 'experimental', 'retired']),
    portable: z.boolean(),
    identity: z.array(z.string().min(4)).min(1).optional().meta({
      description: 'Texts of which the file of the program holds one: by it the program that was proved is known',
    }),
    builtin: z.literal(true).optional(),
    only: z.literal('compound').optional(),
    profile: z.string().min(1).optional(),
    resources: z.array(z.string().min(1)).min(1).optional(),
    override: Override,
    syntax: z.enum(SYNTAX_NAMES),
    values: z.record(z.string().min(1), Value).optional(),
    groups: z.record(z.string().min(1), Options).optional(),
    alone: z.record(OptionKey, z.strictObject({ why: Why })).optional(),
    command: Root,
    exceptions: z.array(ExceptionSchema).min(1).optional(),
    examples: z.strictObject({
      parallel: z.array(Command).min(1),
      piped: z.array(Command).optional(),
      serial: z.array(SerialExample).min(1),
    }),
  })
  .refine(exceptionsFit, { error: 'exceptions only of effects that some node tells', path: ['exceptions'] })
  .meta({ id: 'RuleFile', title: 'What Signalbox knows about one binary' });

/** Examples that a tool proposed. They prove that an entry matters; the ones in the rule file are for people to read. */
export const ProposedSchema = z.strictObject({
  binary: CommandName,
  parallel: z.array(Command),
  piped: z.array(Command),
  serial: z.array(SerialExample),
});

export type RuleFile = DeepReadonly<z.infer<typeof RuleFileSchema>>;
/** What verdicts are made of. */
export type RuleData = Omit<RuleFile, 'examples'>;
export type RuleNode = DeepReadonly<SubcommandFields> | RuleFile['command'];
export type RuleOption = DeepReadonly<z.infer<typeof Option>>;
export type RuleShape = DeepReadonly<z.infer<typeof Shape>>;
export type RuleValue = DeepReadonly<z.infer<typeof Value>>;
export type RuleExpression = DeepReadonly<z.infer<typeof Expression>>;
export type RuleException = DeepReadonly<z.infer<typeof ExceptionSchema>>;
export type Examples = RuleFile['examples'];
export type Proposed = DeepReadonly<z.infer<typeof ProposedSchema>>;

/** Rule data is shared by everything that holds a rule set, and frozen. */
export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

type Forms = {
  readonly operands?: readonly unknown[] | undefined;
  readonly shapes?: readonly { readonly operands?: readonly unknown[] | undefined }[] | undefined;
  readonly subcommands?: object | undefined;
  readonly delegates?: object | undefined;
};

function isOneForm(node: Forms): boolean {
  const forms = [node.operands, node.shapes, node.delegates].filter((form) => form !== undefined).length;
  if (node.subcommands === undefined) return forms === 1;
  // Deleting a subcommand must not turn its name into an operand.
  const takesOperands = [node, ...(node.shapes ?? [])].some((form) => (form.operands ?? []).length > 0);
  return node.delegates === undefined && forms <= 1 && !takesOperands;
}

function globsFit(form: {
  readonly globs?: true | undefined;
  readonly operands?: readonly unknown[] | undefined;
}): boolean {
  const last = form.operands?.at(-1);
  return !form.globs || (typeof last === 'string' && itemOf(last).most === Infinity);
}

function isVariable(item: string | readonly string[]): boolean {
  const { least, most } = itemOf(item);
  return least !== most;
}
