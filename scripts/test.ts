/**
 * `npm test`: types, lint, generated files and the coverage of the classifier, then every test project. Each of the first
 * four counts as one test, none stops the others, and the last line says how many passed and failed. Arguments go to the
 * test runner: `npm test -- --project unit`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countsLine, countTests, type TestReport } from './test-counts.ts';
import './closed-pipe.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const tool = (name: string) => join(root, 'node_modules', '.bin', name);

const checks = [
  { title: 'types', command: [tool('tsc'), '--noEmit'] },
  { title: 'lint', command: [tool('biome'), 'ci', '--colors=off', '.'] },
  { title: 'generated files are current', command: [tool('tsx'), 'scripts/generate.ts', '--check'] },
  {
    title: 'every branch of the classifier is reached by its own tests',
    command: [tool('vitest'), 'run', '--config', 'vitest.mutation.config.ts', '--coverage', '--no-color'],
  },
] as const;

/** Resolves when the process has ended and its output is read; a process that cannot start counts as exit code 127. */
function run(command: readonly string[], stdio: 'inherit' | 'pipe'): Promise<{ code: number; output: string }> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', stdio, stdio] });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

async function runChecks(): Promise<readonly string[]> {
  const failed: string[] = [];
  await Promise.all(
    checks.map(async ({ title, command }) => {
      const { code, output } = await run(command, 'pipe');
      console.log(`${code === 0 ? 'pass' : 'FAIL'}  ${title}`);
      if (code === 0) return;
      failed.push(title);
      console.log(output.trimEnd().replaceAll(/^/gm, '      '));
    }),
  );
  return failed;
}

function readReport(path: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

async function runTests(args: readonly string[]) {
  const scratch = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  const reportPath = join(scratch, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`];
    const { code } = await run([tool('vitest'), 'run', ...reporters, ...args], 'inherit');
    return countTests(readReport(reportPath), code);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const failedChecks = await runChecks();
const tests = await runTests(process.argv.slice(2));
const failures = [...failedChecks.map((title) => `check: ${title}`), ...tests.failures];

if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
console.log(
  `\n${countsLine({
    passed: checks.length - failedChecks.length + tests.passed,
    failed: failures.length,
    skipped: tests.skipped,
  })}`,
);
process.exitCode = failures.length > 0 ? 1 : 0;
