// The loop of an agent that calls a shell tool: all calls of one turn go as one batch, so reads overlap, a write is alone,
// and every result comes back under the id of its call. The model here is a script of two turns; put yours in its place.
// Start `signalbox serve`, then: node examples/agent-loop.mjs [address]
import { createClient } from 'signalbox/client';

const client = createClient({ url: process.argv[2] ?? 'http://127.0.0.1:7311', token: process.env.SIGNALBOX_TOKEN });

/** What a model would answer: tool calls with ids of its own, or a text when it is done. */
const script = [
  {
    calls: [
      ['call_1', 'ls'],
      ['call_2', 'git --version'],
      ['call_3', 'echo "found by the agent" > notes.txt'],
    ],
  },
  { calls: [['call_4', 'cat notes.txt']] },
  { text: 'The notes are written.' },
];
const askModel = async (messages) => script[messages.filter(({ role }) => role === 'assistant').length];

const messages = [{ role: 'user', content: 'Look around and leave a note.' }];
for (;;) {
  const answer = await askModel(messages);
  messages.push({ role: 'assistant', ...answer });
  if (answer.text !== undefined) break;

  const batch = await client.start({
    commands: answer.calls.map(([id, command]) => ({ id, command, timeoutMs: 60_000 })),
  });
  // For whoever watches: what happens, as it happens. A connection that breaks is made anew, and nothing is told twice.
  for await (const event of batch.events())
    if (event.type === 'started') console.log(`${event.commandId} runs (${event.verdict.kind})`);

  // For the model: results in the order of its calls, each with its own id. A non-zero exit is an answer too.
  const { commands } = await batch.done();
  for (const { id, state, exitCode, stdout, stderr } of commands)
    messages.push({ role: 'tool', id, content: state === 'exited' ? stdout + stderr : `${state} (${exitCode})` });
}

for (const { role, id, content, text } of messages)
  if (role === 'tool') console.log(`${id}: ${content.trimEnd().split('\n')[0]}`);
  else if (text !== undefined) console.log(text);
