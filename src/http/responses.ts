import { problem } from './answers.ts';

const WHEN: ReadonlyMap<number, string> = new Map([
  [400, 'The request is not valid'],
  [401, 'A token is needed, or another one'],
  [403, 'The Origin, the working directory, the scope of the token or the change of a batch of another is not allowed'],
  [404, 'No batch has this id, or no command of it that asks'],
  [406, 'No representation fits the Accept header'],
  [408, 'The first line took too long to arrive'],
  [409, 'The batch takes no more commands, another command of it has the id, or the command has another answer'],
  [410, 'The batch is no longer kept'],
  [413, 'The body is larger than allowed'],
  [415, 'The body is not application/json, or lines where they are read'],
  [421, 'The Host header does not name this service'],
  [429, 'Too many requests in a minute, batches that have not ended, commands that wait or streams that are open'],
  [503, 'The service is shutting down'],
]);

type ProblemResponse = { description: string; content: { 'application/problem+json': { schema: typeof problem } } };

/** The problem documents that a route may answer with, for the API document: those of every route, of a body, and its own. */
export function problems(kind: 'plain' | 'body', ...own: readonly number[]): Record<number, ProblemResponse> {
  const statuses = new Set([400, 401, 403, 406, 415, 421, 429, ...(kind === 'body' ? [413] : []), ...own]);
  return Object.fromEntries(
    [...statuses]
      .sort()
      .map((status) => [
        status,
        { description: WHEN.get(status) ?? 'A problem', content: { 'application/problem+json': { schema: problem } } },
      ]),
  );
}
