import type { Plan } from './types.ts';

type Planned = Plan['commands'][number];

/**
 * The groups that commands run as: neighbours with a parallel verdict overlap, a serial one is alone. In call order.
 */
export function groupsOf(commands: readonly Pick<Planned, 'id' | 'verdict'>[]): Plan['groups'] {
  const groups: { kind: 'parallel' | 'serial'; commandIds: string[] }[] = [];
  for (const { id, verdict } of commands) {
    const last = groups.at(-1);
    if (verdict.kind === 'parallel' && last?.kind === 'parallel') last.commandIds.push(id);
    else groups.push({ kind: verdict.kind, commandIds: [id] });
  }
  return groups;
}
