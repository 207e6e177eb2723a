import type { LockMode, LockRequest, Plan } from '../dispatcher/types.ts';
import { visible } from './display-text.ts';
import type { Paint } from './paint.ts';

type Planned = Plan['commands'][number];

const MODES: readonly LockMode[] = ['shared', 'exclusive', 'intention-shared', 'intention-exclusive'];

/** A plan for a person: its groups in order, and of each command the verdict and the keys that it would take. */
export function planText({ groups, commands }: Plan, paint: Paint): string {
  const byId = new Map(commands.map((command) => [command.id, command]));
  const width = Math.max(...commands.map(({ id }) => visible(id).length));
  const sections = groups.map(({ kind, commandIds }, index) => {
    const members = commandIds.flatMap((id) => byId.get(id) ?? []);
    const beside = members.length > 1 ? `, ${members.length} commands at once` : '';
    const head = `${paint('bold', `group ${index + 1}`)}  ${paint(kind === 'parallel' ? 'green' : 'yellow', kind)}${beside}`;
    return [head, ...members.flatMap((member) => commandLines(member, width))].join('\n');
  });
  return `${sections.join('\n')}\n`;
}

function commandLines({ id, command, verdict, locks }: Planned, width: number): readonly string[] {
  const indent = ' '.repeat(width + 4);
  const why =
    verdict.kind === 'parallel' ? `profile ${verdict.profile}` : `${verdict.reason.code}: ${verdict.reason.message}`;
  return [
    `  ${visible(id).padEnd(width)}  ${visible(command)}`,
    `${indent}${visible(why)}`,
    ...keyLines(locks).map((line) => `${indent}${line}`),
  ];
}

/** A line for each mode that keys are asked for in. */
function keyLines(locks: readonly LockRequest[]): readonly string[] {
  return MODES.flatMap((mode) => {
    const keys = locks.map(keyAndMode).filter((lock) => lock.mode === mode);
    return keys.length === 0 ? [] : [`${mode}: ${keys.map(({ key }) => visible(key)).join(', ')}`];
  });
}

function keyAndMode(request: LockRequest): { readonly key: string; readonly mode: LockMode } {
  return typeof request === 'string'
    ? { key: request, mode: 'exclusive' }
    : { key: request.key, mode: request.mode ?? 'exclusive' };
}
