import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Call, type Evaluation, type Question, type Surroundings, valueAround } from './compound-oracle.ts';
import type { Compound, Stage } from './compound-reading.ts';
import type { Random } from './hostile-text.ts';

/** What bash must have done with a compound, if it reads it as we do. */

/** Which calls end with 1, so that every part of a compound runs; null where the same words would have to end both ways. */
export function failingSoThatAllRun({ pipelines, operators }: Compound): readonly (readonly string[])[] | null {
  const fails = new Map<string, { readonly words: readonly string[]; readonly fails: boolean }>();
  for (const [index, pipeline] of pipelines.entries()) {
    const operator = operators[index];
    if (operator === undefined || operator === ';') continue;
    const { words } = pipeline.at(-1) as Stage;
    const known = fails.get(JSON.stringify(words));
    if (known !== undefined && known.fails !== (operator === '||')) return null;
    fails.set(JSON.stringify(words), { words, fails: operator === '||' });
  }
  return [...fails.values()].filter((one) => one.fails).map(({ words }) => words);
}

/** Any half of the calls. */
export function failingByChance({ pipelines }: Compound, random: Random): readonly (readonly string[])[] {
  const calls = new Map(pipelines.flat().map(({ words }) => [JSON.stringify(words), words]));
  return [...calls.values()].filter(() => random() < 0.5);
}

export function questionOf(
  text: string,
  { pipelines }: Compound,
  failing: Question['failing'],
  form: Question['form'],
): Question {
  const stages = pipelines.flat();
  const variables = [...new Set(stages.flatMap(({ assignments }) => assignments.map(({ name }) => name)))];
  return { text, form, noGlob: stages.some(({ hasGlob }) => hasGlob), variables, failing };
}

/** Where a stage is to run and how it is to be connected. */
type Expected = Stage & { readonly cwd: string; readonly stdin: string; readonly out: Sink; readonly errors: Sink };
type Sink = 'pipe' | 'printed' | 'complained' | 'nowhere';

/** The pipelines that run one after the other, how it ends, and whether the change of directory fails. */
type Course = { readonly ran: readonly (readonly Expected[])[]; readonly status: number; readonly isLost: boolean };

function courseOf({ cd, pipelines, operators }: Compound, failing: Question['failing'], directory: string): Course {
  const fails = new Set(failing.map((words) => JSON.stringify(words)));
  const ran: Expected[][] = [];
  const isLost = cd !== null && !isDirectory(resolve(directory, cd));
  const cwd = cd === null || isLost ? directory : resolve(directory, cd);
  let status = isLost ? 1 : 0;
  for (const [index, pipeline] of pipelines.entries()) {
    const operator = index === 0 ? '&&' : operators[index - 1];
    if (operator === '&&' && status !== 0) continue;
    if (operator === '||' && status === 0) continue;
    ran.push(pipeline.map((stage, nth) => expectedOf(stage, nth, pipeline.length, cwd)));
    status = fails.has(JSON.stringify(pipeline.at(-1)?.words)) ? 1 : 0;
  }
  return { ran, status, isLost };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function expectedOf(stage: Stage, nth: number, length: number, cwd: string): Expected {
  let stdin = nth === 0 ? 'null' : 'pipe';
  let out: Sink = nth === length - 1 ? 'printed' : 'pipe';
  let errors: Sink = 'complained';
  for (const redirection of stage.redirections) {
    if (redirection === '2>&1') errors = out;
    else if (redirection === '1>&2') out = errors;
    else if (redirection === '2>/dev/null') errors = 'nowhere';
    else if (redirection === '>/dev/null') out = 'nowhere';
    else if (redirection === '&>/dev/null') out = errors = 'nowhere';
    else stdin = 'null';
  }
  return { ...stage, cwd, stdin, out, errors };
}

/** How bash did otherwise than the reading says, as one line; null when it did not. */
export function differenceOf(
  question: Question,
  compound: Compound,
  evaluation: Evaluation,
  directory: string,
  surroundings: Surroundings,
): string | null {
  const { ran, status, isLost } = courseOf(compound, question.failing, directory);
  const told = (why: string): string => JSON.stringify({ text: question.text, why, compound, evaluation });
  if (evaluation.calls.length !== ran.flat().length) {
    return told(`${evaluation.calls.length} calls instead of ${ran.flat().length}`);
  }
  const found: { readonly expected: Expected; readonly call: Call }[] = [];
  let at = 0;
  for (const pipeline of ran) {
    // bash waits for every stage before it goes on, so the calls of a pipeline stand together.
    const calls = evaluation.calls.slice(at, at + pipeline.length);
    at += pipeline.length;
    const matched = match(pipeline, calls, [], (expected, call, input) => {
      const values = question.variables.map(
        (name) =>
          expected.assignments.findLast((assignment) => assignment.name === name)?.value ??
          valueAround(name, surroundings),
      );
      return (
        call.cwd === expected.cwd &&
        call.stdin === expected.stdin &&
        isSame(call.argv, expected.words) &&
        isSame(call.values, values) &&
        isSame(call.input, expected.stdin === 'pipe' ? input : [])
      );
    });
    if (matched === null) return told(`other calls than ${JSON.stringify(pipeline)}`);
    found.push(...matched);
  }
  const sunk = (sink: Sink): string[] => found.flatMap(({ expected, call }) => tokensIn(sink, expected, call));
  if (!isSame(sorted(evaluation.printed), sorted(sunk('printed')))) return told('another standard output');
  const complaints = evaluation.complained.filter((line) => !/^[12]\.[0-9]+$/.test(line));
  const tokens = evaluation.complained.filter((line) => !complaints.includes(line));
  if (!isSame(sorted(tokens), sorted(sunk('complained')))) return told('another standard error');
  // That of a change of directory may be thrown away.
  if (complaints.length > (isLost ? 1 : 0)) return told('bash complains');
  return evaluation.status === status ? null : told(`status ${evaluation.status} instead of ${status}`);
}

type Match = { readonly expected: Expected; readonly call: Call };

/** Finds the call of each stage: its words alone may be those of another, so every order is tried that fits. */
function match(
  pipeline: readonly Expected[],
  calls: readonly Call[],
  before: readonly Match[],
  fits: (expected: Expected, call: Call, input: readonly string[]) => boolean,
): readonly Match[] | null {
  const expected = pipeline[before.length];
  if (expected === undefined) return before;
  const last = before.at(-1);
  const input = last === undefined ? [] : tokensIn('pipe', last.expected, last.call);
  for (const call of calls) {
    if (!fits(expected, call, input)) continue;
    const others = calls.filter((one) => one !== call);
    const matched = match(pipeline, others, [...before, { expected, call }], fits);
    if (matched !== null) return matched;
  }
  return null;
}

function tokensIn(sink: Sink, { out, errors }: Expected, { id }: Call): string[] {
  return [...(out === sink ? [`1.${id}`] : []), ...(errors === sink ? [`2.${id}`] : [])];
}

function sorted(tokens: readonly string[]): string[] {
  return [...tokens].sort();
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
