import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { LockMode } from '../../src/dispatcher/types.ts';
import { toRequests, type Wants } from '../support/locks.ts';
import { meets } from './lineage-model.ts';

/** Work under a lock that does other work inside of it, one after the other or side by side. */
type Work = { readonly wants: Wants; readonly isSideBySide: boolean; readonly inner: readonly Work[] };

const mode = fc.constantFrom<LockMode>('shared', 'exclusive');
const wants: fc.Arbitrary<Wants> = fc
  .dictionary(fc.constantFrom('k', 'l', 'file:/a', 'file:/a/b'), mode, { minKeys: 1, maxKeys: 2 })
  .map((each) => ({ ...each }));

const { work } = fc.letrec<{ work: Work }>((tie) => ({
  work: fc.record({
    wants,
    isSideBySide: fc.boolean(),
    inner: fc.oneof(
      { maxDepth: 2, depthIdentifier: 'work' },
      fc.constant([]),
      fc.array(tie('work'), { maxLength: 2, depthIdentifier: 'work' }),
    ),
  }),
}));

describe('work inside of work, in any interleaving', () => {
  test.prop([fc.scheduler(), fc.array(work, { minLength: 1, maxLength: 4 })], {
    numRuns: Number(process.env.SIGNALBOX_LOCK_RUNS ?? 1_500),
  })(
    'no two that conflict are inside together unless one is inside of the other; each one runs or is refused; nothing is kept',
    async (scheduler, all) => {
      const lock = new KeyedLock();
      type Visit = { readonly wants: Wants; readonly around: Visit | null };
      const inside = new Set<Visit>();
      const isWithin = (inner: Visit, outer: Visit): boolean => {
        for (let at: Visit | null = inner; at !== null; at = at.around) if (at === outer) return true;
        return false;
      };
      const ends: string[] = [];
      const live = async (work: Work, around: Visit | null, held: Held | null, name: string): Promise<void> => {
        const body = async (mine: Held): Promise<void> => {
          const visit: Visit = { wants: work.wants, around };
          for (const other of inside) {
            expect(meets(other.wants, visit.wants) && !isWithin(visit, other)).toBe(false);
          }
          inside.add(visit);
          await scheduler.schedule(Promise.resolve(), `${name} begins`);
          const deeper = (each: Work, at: number): Promise<void> => live(each, visit, mine, `${name}.${at}`);
          if (work.isSideBySide) await Promise.all(work.inner.map(deeper));
          else for (const [at, each] of work.inner.entries()) await deeper(each, at);
          await scheduler.schedule(Promise.resolve(), `${name} ends`);
          inside.delete(visit);
        };
        try {
          await (held?.run(toRequests(work.wants), body) ?? lock.run(toRequests(work.wants), body));
          ends.push('ran');
        } catch (error) {
          const { code } = error as { code?: string };
          if (code !== 'LOCK_CYCLE' && code !== 'LOCK_UPGRADE') throw error;
          ends.push(code);
        }
      };
      let isOver = false;
      const lives = Promise.all(all.map((each, at) => live(each, null, null, `${at}`))).finally(() => {
        isOver = true;
      });
      lives.catch(() => 'told below');
      await scheduler.waitIdle();
      if (isOver) await lives;
      // Still somebody waiting with nothing left to happen would be a deadlock.
      expect(isOver).toBe(true);
      expect(ends.length).toBeGreaterThanOrEqual(all.length);
      expect(lock.size).toBe(0);
    },
  );
});
