import { SignalboxError } from '../../errors.ts';

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** The coded error for what the storage rejected with. @param deed what was tried, as in "Could not … the journal" */
export function storageFailure(deed: string, place: string, cause: unknown): SignalboxError {
  if (cause instanceof SignalboxError) return cause;
  const isFull = cause instanceof Error && FULL.has((cause as NodeJS.ErrnoException).code);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new SignalboxError(
    isFull ? 'JOURNAL_FULL' : 'JOURNAL_FAILED',
    `Could not ${deed} the journal in ${JSON.stringify(place)}: ${reason}`,
    { cause, hint: 'What was acknowledged before is kept. Mend the disk, then open the journal again.' },
  );
}
