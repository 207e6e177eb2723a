import { describe, expect, test } from 'vitest';
import { countsLine, countTests } from '../../scripts/test-counts.ts';

const passed = { status: 'passed', fullName: 'a' };
const failed = { status: 'failed', fullName: 'b', failureMessages: ['\n\u001b[31mexpected 1\u001b[39m\n at x.ts'] };
const pending = { status: 'pending', fullName: 'c' };
const file = (status: string, assertionResults: (typeof passed)[], message = '') => ({
  name: 'x.test.ts',
  status,
  message,
  assertionResults,
});

describe('the counts of a run', () => {
  test('each test is counted once, by its own status', () => {
    const counts = countTests({ testResults: [file('failed', [passed, failed, pending, passed])] }, 1);
    expect(counts).toMatchObject({ passed: 2, failed: 1, skipped: 1 });
    expect(counts.failures).toEqual(['x.test.ts: b\n    expected 1']);
  });

  test('a file that failed before its first test is one failure', () => {
    const counts = countTests({ testResults: [file('failed', [], 'Cannot find module'), file('passed', [passed])] }, 1);
    expect(counts).toMatchObject({ passed: 1, failed: 1 });
    expect(counts.failures[0]).toContain('Cannot find module');
  });

  test('a runner that ends badly is a failure although every test passed', () => {
    expect(countTests({ testResults: [file('passed', [passed])] }, 1).failed).toBe(1);
    expect(countTests(undefined, 1).failed).toBe(1);
  });

  test('a run without a test is a failure', () => {
    expect(countTests({ testResults: [] }, 0)).toMatchObject({ passed: 0, failed: 1, failures: ['no test ran'] });
    expect(countTests({ testResults: [file('passed', [pending])] }, 0)).toMatchObject({ failed: 1, skipped: 1 });
    expect(countTests(undefined, 0).failed).toBe(1);
  });

  test('the line names skipped tests only when there are some', () => {
    expect(countsLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
    expect(countsLine({ passed: 1, failed: 2, skipped: 3 })).toBe('1 passed, 2 failed, 3 skipped');
  });
});
