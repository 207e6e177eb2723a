import { expect, test } from 'vitest';
import { examplesOfSource, runExample } from './examples.ts';

const examples = examplesOfSource('src/index.ts');

test('the library entry has examples', () => {
  expect(examples.map(({ place }) => place)).toContain('src/index.ts isConcurrencySafe');
});

test.each(examples)('$place does what its example says', async (example) => {
  expect(await runExample(example)).toBeGreaterThan(0);
});

test('a claim that does not hold is noticed', async () => {
  await expect(runExample({ place: 'here', code: "isConcurrencySafe('git push'); // true" })).rejects.toThrow(
    'in truth false',
  );
  await expect(runExample({ place: 'here', code: 'const one = 1; // 2' })).rejects.toThrow('in truth 1');
});
