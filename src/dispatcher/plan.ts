import type { Plan } from './types.ts';

type Planned = Plan['commands'][number];

/**
 * The groups that commands run as: neighbours with a parallel verdict, or that are vouched for, overlap, a serial one is alone. In call order.
 */
export function groupsOf(commands: readonly Pick<Planned, 'id' | 'verdict' | 'vouched'>[]): Plan['groups'] {
  const groups: { kind: 'parallel' | 'serial'; commandIds: string[] }[] = [];
  for (const { id, verdict, vouched = false } of commands) {
    const last = groups.at(-1);
    const kind = vouched ? 'parallel' : verdict.kind;
    if (kind === 'parallel' && last?.kind === 'parallel') last.commandIds.push(id);
    else groups.push({ kind, commandIds: [id] });
  }
  return groups;
}
