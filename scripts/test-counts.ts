/** What one run of the tests came to. `failures` names each failure once, in the order found. */
export type Counts = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly string[];
};

type Assertion = { readonly status: string; readonly fullName: string; readonly failureMessages?: readonly string[] };
type TestFile = {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly Assertion[];
};

/** The part of the JSON reporter's document that is counted. */
export type TestReport = { readonly testResults: readonly TestFile[] };

/** The first line that says something, without the colours of a terminal. */
function headline(text: string | undefined): string {
  const line = (text ?? '').split('\n').find((part) => part.trim() !== '') ?? '';
  // biome-ignore lint/complexity/useRegexLiterals: an escape character in a literal is easily lost in an editor
  return line.replaceAll(new RegExp('\\u001b\\[[0-9;]*m', 'g'), '').trim();
}

/**
 * Counts the tests of a report, one by one, instead of trusting its totals: a file that failed before its first test,
 * and a runner that ended badly although every test passed, are failures that the totals leave out.
 *
 * @param report the JSON reporter's document, or `undefined` when the runner left none
 * @param exitCode what the runner ended with
 */
export function countTests(report: TestReport | undefined, exitCode: number): Counts {
  let passed = 0;
  let skipped = 0;
  const failures: string[] = [];
  for (const file of report?.testResults ?? []) {
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed += 1;
      else if (test.status === 'failed')
        failures.push(`${file.name}: ${test.fullName}\n    ${headline(test.failureMessages?.[0])}`);
      else skipped += 1;
    }
    const ownFailure = file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed');
    if (ownFailure) failures.push(`${file.name}: the file itself failed\n    ${headline(file.message)}`);
  }
  if (exitCode !== 0 && failures.length === 0)
    failures.push(`the test runner ended with ${exitCode} although no test failed; its own output says why`);
  else if (passed + failures.length === 0) failures.push('no test ran');
  return { passed, failed: failures.length, skipped, failures };
}

/** The last line of a run: `12 passed, 0 failed`, and the skipped ones when there are any. */
export function countsLine(counts: Pick<Counts, 'passed' | 'failed' | 'skipped'>): string {
  const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}
