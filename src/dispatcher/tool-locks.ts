import { KeyedLock } from './keyed-lock.ts';

/** Whose an acquire of the lock is. */
export type Owner = { readonly batchId: string; readonly commandId: string };

/** The command that a label names; null for one of other work that takes keys of the same lock. */
export function ownerIn(label: Partial<Owner> | null | undefined): Owner | null {
  const { batchId, commandId } = label ?? {};
  return typeof batchId === 'string' && typeof commandId === 'string' ? { batchId, commandId } : null;
}

/**
 * The lock of this process: every dispatcher takes it that is given no other, so that batches wait for each other
 * whichever dispatcher runs them. Take keys of it for other work that must not meet a command.
 *
 * @example
 * await toolLocks.run(fileLockKey('/repository/notes.md'), () => appendFile('/repository/notes.md', 'done\n'));
 */
export const toolLocks: KeyedLock<Owner> = new KeyedLock<Owner>();
