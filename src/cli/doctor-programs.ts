import { statSync } from 'node:fs';
import { type RuleSet, rulesOf } from '../classifier/rule-set.ts';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import { workspaceKeys } from '../dispatcher/lock-keys.ts';
import type { Platform } from '../dispatcher/platform.ts';
import { distrustedStart, findProgram } from '../dispatcher/program.ts';
import { createToolIdentity, knownTools, strangerAmong } from '../dispatcher/tool-identity.ts';
import { visible } from './display-text.ts';
import type { ProgramState } from './doctor-diagnosis.ts';

export type ProgramQuestion = {
  readonly rules: RuleSet;
  readonly platform: Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether proved programs are asked for their versions. */
  readonly versions: boolean;
};

const VERSION_WORD = '--version';
const VERSION_TIMEOUT_MS = 5_000;
const MOST_CHARACTERS = 60;

/** Looks up every name that has a rule, as the dispatcher would. Starts nothing but `NAME --version`, where a rule proves it. */
export async function programsOf(question: ProgramQuestion): Promise<readonly ProgramState[]> {
  const states = statesOf(question);
  return question.versions ? withVersions(states, question) : states;
}

function statesOf({ rules, platform, environment, cwd }: ProgramQuestion): readonly ProgramState[] {
  const tools = knownTools(rules);
  const path = environment.PATH;
  const identity = createToolIdentity(tools, path);
  const context = { path, cwd, workspaces: [workspaceKeys(cwd).workspace] };
  return rules.names.map((name) => {
    const binary = tools.binaryOf.get(name) ?? name;
    const nothing = { name, binary, path: null, version: null, shadowed: [] };
    if (platform.builtins.has(name)) return { ...nothing, state: 'builtin' };
    const found = findProgram(name, context);
    if (found.kind === 'missing') return { ...nothing, state: 'missing' };
    if (found.kind === 'untrusted') return { ...nothing, state: 'serial', code: 'PROGRAM_UNTRUSTED', why: found.why };
    const here = { ...nothing, path: found.path, shadowed: othersAlong(path ?? '', name, found.path) };
    const starts = rulesOf(rules).binaries.get(name)?.starts ?? [];
    const distrusted = distrustedStart(found, starts, context);
    if (distrusted !== null) return { ...here, state: 'serial', code: 'PROGRAM_UNTRUSTED', why: distrusted };
    const why = strangerAmong(identity, [name, ...starts], context);
    return why === null ? { ...here, state: 'proved' } : { ...here, state: 'serial', code: 'PLATFORM_UNPROVEN', why };
  });
}

/** Other files of a name; `/bin` is often a link to `/usr/bin`, and the same file is no other. */
function othersAlong(path: string, name: string, first: string): readonly string[] {
  const seen = new Set([fileAt(first)]);
  const others: string[] = [];
  for (const directory of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const file = `${directory}/${name}`;
    const identity = fileAt(file);
    if (identity === null || seen.has(identity)) continue;
    seen.add(identity);
    others.push(file);
  }
  return others;
}

function fileAt(path: string): string | null {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    return status?.isFile() ? `${status.dev}:${status.ino}` : null;
  } catch {
    return null;
  }
}

/** Asked by the dispatcher itself, so that nothing runs that is not proved in this very moment. */
async function withVersions(
  states: readonly ProgramState[],
  { rules, environment, cwd }: ProgramQuestion,
): Promise<readonly ProgramState[]> {
  const said = new Map<string, string>();
  const dispatcher = createDispatcher({ rules, environment, cwd, limits: { timeoutMs: VERSION_TIMEOUT_MS } });
  try {
    const asked = states
      .filter(({ state }) => state === 'proved')
      .map(({ name }) => ({ id: name, command: `${name} ${VERSION_WORD}` }));
    if (asked.length === 0) return states;
    const proved = dispatcher.plan(asked).commands.filter(({ verdict }) => verdict.kind === 'parallel');
    if (proved.length === 0) return states;
    const batch = dispatcher.dispatch(proved.map(({ id, command }) => ({ id, command })));
    for (const { id, stdout, stderr } of (await batch.done).commands) {
      const line = [...stdout.split('\n'), ...stderr.split('\n')].find((one) => one.trim() !== '') ?? '';
      said.set(id, visible(line.trim()).slice(0, MOST_CHARACTERS));
    }
  } finally {
    await dispatcher.shutdown({ graceMs: 0 });
  }
  return states.map((state) => ({ ...state, version: said.get(state.name) || null }));
}
