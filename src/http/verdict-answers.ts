import { z } from 'zod';
import type { Effect, Part, Reason, RuleRef, Verdict } from '../classifier/verdict.ts';
import { reasonCode } from './schemas.ts';

/** The verdicts that go out, as `answers.ts` has the other bodies. */

const count = z.int().min(0);

const ruleRef: z.ZodType<RuleRef> = z
  .strictObject({ binary: z.string(), path: z.string(), origin: z.enum(['built-in', 'user', 'override']) })
  .meta({ id: 'RuleRef', description: 'Which entry of which rule file decided' });

const effect: z.ZodType<Effect> = z.enum([
  'reads-files',
  'reads-repository',
  'reads-processes',
  'reads-environment',
  'reads-clock',
  'talks-to-daemon',
  'reads-network',
  'temporary-files',
  'own-log',
  'own-cache',
  'configured-programs',
]);

const run = z.union([
  z.strictObject({ form: z.literal('argv'), argv: z.array(z.string()), env: z.record(z.string(), z.string()) }),
  z.strictObject({ form: z.literal('bash') }),
]);

const part: z.ZodType<Part> = z
  .strictObject({
    span: z.tuple([count, count]).describe('Half-open, in UTF-16 code units of the command'),
    rule: z.array(ruleRef),
    profile: z.string(),
    effects: z.array(effect),
    stdin: z.enum(['null', 'pipe']).describe('What it may read: nothing, or the output of the stage before it'),
  })
  .meta({ id: 'Part', description: 'One simple command of a list or pipeline' });

const reason = z
  .strictObject({
    check: z.enum(['input', 'metacharacters', 'leading-token', 'subcommand', 'environment']),
    code: reasonCode,
    knowledge: z.enum(['unrecognised', 'known-unsafe']),
    span: z.tuple([count, count]).describe('Half-open, in UTF-16 code units of the command'),
    message: z.string(),
    rule: ruleRef.optional(),
    hint: z.string().optional(),
  })
  .meta({ id: 'Reason' }) as z.ZodType<Reason>;

export const verdict: z.ZodType<Verdict> = z
  .union([
    z.strictObject({
      kind: z.literal('parallel'),
      run,
      profile: z.string(),
      rule: z.array(ruleRef),
      effects: z.array(effect),
      assumes: z.array(z.enum(['repository-plain', 'index-fresh'])),
      parts: z
        .array(part)
        .exactOptional()
        .describe('There when the text was judged as a compound; the other fields are then the unions'),
      ruleset: z.string(),
    }),
    z.strictObject({ kind: z.literal('serial'), reason, ruleset: z.string() }),
  ])
  .meta({ id: 'Verdict', description: '`parallel` is proved; `serial` is everything else, and never means forbidden' });

export const verdicts = z.strictObject({ verdicts: z.array(verdict).readonly() }).meta({ id: 'Verdicts' });
