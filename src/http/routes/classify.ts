import { resolve } from 'node:path';
import type { FastifyReply } from 'fastify';
import type { Allowance } from '../../classifier/allowance.ts';
import type { Verdict } from '../../classifier/verdict.ts';
import type { Mode } from '../../dispatcher/types.ts';
import { requireCount } from '../admission.ts';
import type { App, RouteContext } from '../context.ts';
import { bodyOf, listTexts, objectTexts } from '../json-text.ts';
import { problems } from '../responses.ts';
import { classifyQuery, classifyRequest } from '../schemas.ts';
import { verdict, verdicts } from '../verdict-answers.ts';

type Question = {
  readonly command: unknown;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** How the commands of a request are judged. */
type Terms = { readonly allow?: Allowance; readonly mode?: Mode };

/** Verdicts without running anything. Directories are taken as text, since the commands may be meant for elsewhere. */
export function classifyRoutes(app: App, { config, judge, metrics }: RouteContext): void {
  const { roots } = config;
  const [root = '/'] = roots;

  const answer = ({ command, cwd, env, allow, mode = config.mode }: Question & Terms): Verdict => {
    // The judge is total: a value that is no string is serial, as it would be for a harness whose model sent one.
    const text = command as string;
    const context = { ...(env === undefined ? {} : { env }), ...(allow === undefined ? {} : { allow }) };
    const { verdict: given } = judge(text, { cwd: resolve(root, cwd ?? '.'), roots, mode, ...context });
    metrics.asked(given);
    return given;
  };

  app.route({
    method: 'POST',
    url: '/classify',
    schema: {
      operationId: 'classify',
      summary: 'May this command run at the same time as its siblings? One, or many in order',
      tags: ['classify'],
      body: classifyRequest,
      response: {
        200: verdict.or(verdicts).describe('One Verdict, or Verdicts in the order asked'),
        ...problems('body'),
      },
    },
    handler: async ({ body }, typed) => {
      const { commands, cwd, env, allow, mode } = body;
      const common = {
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
        ...(allow === undefined ? {} : { allow }),
        ...(mode === undefined ? {} : { mode }),
      };
      if (commands === undefined) return answer({ ...common, command: body.command });
      requireCount(commands.length, config.limits.maxCommands);
      // As many as the reader takes: a thousand verdicts are much longer than the request that asks for them.
      const texts = listTexts(commands, (each) => [
        JSON.stringify(answer(isQuestion(each) ? { ...common, ...each } : { ...common, command: each })),
      ]);
      const reply = typed as unknown as FastifyReply;
      reply.type('application/json; charset=utf-8');
      return reply.send(bodyOf(objectTexts({ verdicts: null }, new Map([['verdicts', () => texts]])))) as never;
    },
  });

  app.route({
    method: 'GET',
    url: '/classify',
    schema: {
      operationId: 'classifyOne',
      summary: 'The same for one command, for a quick look. The query never reaches a log of this service',
      tags: ['classify'],
      querystring: classifyQuery,
      response: { 200: verdict, ...problems('plain') },
    },
    handler: async ({ query }) => answer(query),
  });
}

function isQuestion(value: unknown): value is Question {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
