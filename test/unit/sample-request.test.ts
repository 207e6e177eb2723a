import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { sampleRequest, shellWord } from '../../src/cli/sample-request.ts';

/** What bash and sh make of a text: the words they would pass on. */
function wordsBy(shell: string, text: string): string[] {
  const script = `set -- ${text}; for word; do printf '%s\\0' "$word"; done`;
  return execFileSync(shell, ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

const hostile = [
  "it's",
  '$HOME',
  '`x`',
  'a b',
  '!!',
  '"',
  '\\',
  '*',
  '~',
  '',
  '-n',
  "a'b'c",
  'line\nline',
  '{a,b}',
  '#x',
  'größe',
];

describe('one word for a shell', () => {
  test.each(hostile)('%j arrives as it is', (text) => {
    expect(wordsBy('bash', shellWord(text))).toEqual([text]);
    expect(wordsBy('sh', shellWord(text))).toEqual([text]);
  });

  test('harmless words need no quotes', () => {
    expect(shellWord('/tmp/a-b_c.txt')).toBe('/tmp/a-b_c.txt');
  });
});

const TARGET = {
  address: 'http://127.0.0.1:7311',
  directory: '/',
  scratchFile: '/tmp/x',
  socket: null,
  classifyOnly: false,
  token: null,
} as const;

describe('the request to paste', () => {
  test.each(['/srv/plain', "/srv/it's $(odd) `dir`"])('reaches curl with the directory %j as it is', (directory) => {
    const text = sampleRequest({ ...TARGET, directory });
    const words = wordsBy('bash', text);
    expect(words.slice(0, 3)).toEqual(['curl', '-sS', 'http://127.0.0.1:7311/batches']);
    const body = JSON.parse(words.at(-1) ?? '');
    expect(body.cwd).toBe(directory);
    expect(body.commands).toEqual([
      'git log --oneline -5',
      'git status',
      'ls -la',
      'grep -rn "export" src',
      'wc -l README.md',
      'date > /tmp/x',
      'cat /tmp/x',
    ]);
  });

  test('reads the token from where it stands when it is made', () => {
    const fromFile = sampleRequest({ ...TARGET, token: { file: '/run/my token' } });
    expect(fromFile).toContain(`-H "Authorization: Bearer $(cat '/run/my token')"`);
    expect(sampleRequest({ ...TARGET, token: { variable: 'TOKEN' } })).toContain('-H "Authorization: Bearer $TOKEN"');
    expect(sampleRequest(TARGET)).not.toContain('Authorization');
  });

  test('goes through the socket, and only asks where nothing is run', () => {
    const text = sampleRequest({ ...TARGET, address: 'http://localhost', socket: '/run/a b', classifyOnly: true });
    const words = wordsBy('bash', text);
    expect(words.slice(0, 5)).toEqual(['curl', '-sS', '--unix-socket', '/run/a b', 'http://localhost/classify']);
    expect(words).not.toContain('Prefer: wait=30');
  });
});
