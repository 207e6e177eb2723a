import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Before the first of these tests, once: they are about what is published, so `dist` must be of these sources. */
export default function build(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed, so there is nothing to test:\n${stdout}${stderr}`);
}
