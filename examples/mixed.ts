/**
 * Three vocabularies in one tree: the root forks a lead and waits for it; the lead hands two tasks to sub-agents with spawn_agents and gets
 * both results in one message; one of them asks an agent program over ACP with subagent_delegate. The models here are scripted and the
 * program is the smallest one that speaks ACP, so the example runs offline. It checks its own outcome.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedModel, openCoppice } from 'coppice';

const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));

/** An agent program: one message of JSON-RPC a line, on its standard streams. */
const program = join(folder, 'gardener.mjs');
writeFileSync(
  program,
  `import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 'garden' }),
  'session/prompt': () => {
    const content = { type: 'text', text: 'A hazel is 6 m tall.' };
    say({
      method: 'session/update',
      params: { sessionId: 'garden', update: { sessionUpdate: 'agent_message_chunk', content } },
    });
    return { stopReason: 'end_turn' };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) say({ id, result: answers[method]() });
}
`,
);

const scripted = createScriptedModel(
  {
    rules: [
      // The root: fork, wait.
      {
        when: { agent: 'main', step: 0 },
        calls: [{ name: 'fork', input: { name: 'lead', prompt: 'Find out about oak and hazel.' } }],
      },
      {
        when: { agent: 'main', step: 1 },
        calls: [{ name: 'wait', input: { timeout: 30, from_agents: '{{results.fork.*.agent_id}}' } }],
      },
      {
        when: { agent: 'main' },
        say: '{{#each results.wait.-1.results}}{{.name}} reports {{.message}}{{/each}}',
      },
      // The lead: fan out, report what came back.
      {
        when: { agent: 'lead', step: 0 },
        calls: [
          {
            name: 'spawn_agents',
            input: {
              tasks: [
                { task: 'Say how tall an oak is.', label: 'oak' },
                { task: 'Ask the program about hazel.', label: 'hazel' },
              ],
            },
          },
        ],
      },
      {
        when: { agent: 'lead', step: 1 },
        calls: [{ name: 'send', input: { to: '{{parent_id}}', message: '{{user}}' } }],
      },
      { when: { agent: 'lead' }, say: 'Reported.' },
      // The sub-agents: one knows, one asks.
      {
        when: { agent: 'oak' },
        calls: [{ name: 'submit_result', input: { result: 'An oak is 40 m tall.' } }],
      },
      {
        when: { agent: 'hazel', step: 0 },
        calls: [
          {
            name: 'subagent_delegate',
            input: { task: 'How tall is a hazel?', description: 'the program' },
          },
        ],
      },
      {
        when: { agent: 'hazel' },
        calls: [{ name: 'submit_result', input: { result: '{{results.subagent_delegate.0}}' } }],
      },
    ],
  },
  'example',
);

const coppice = await openCoppice({
  database: `sqlite:${join(folder, 'example.db')}`,
  model: 'example',
  models: { example: scripted },
  toolsets: ['process', 'fanout', 'delegate'],
  acp: {
    gardener: {
      command: process.execPath,
      args: [program],
      // In the sandbox, without any host.
      hosts: [],
    },
  },
  cwd: folder,
});
coppice.subscribe((event) => {
  if (event.type === 'agent' && event.created)
    console.log(
      `${'  '.repeat(event.agent.depth)}+ ${event.agent.name} (${event.agent.origin}, ${event.agent.config.model})`,
    );
});

const agent = await coppice.start({ prompt: 'How tall are oak and hazel?' });
const { reply, failure, agents } = await agent.result();
await coppice.close();
rmSync(folder, { recursive: true });

console.log(failure === null ? reply : `failed: ${failure.error}`);
assert.equal(failure, null);
assert.match(reply, /lead reports .*An oak is 40 m tall\..*A hazel is 6 m tall\./);
assert.deepEqual(agents.map(({ origin, depth }) => `${origin} ${depth}`).toSorted(), [
  'delegate 3',
  'fork 1',
  'root 0',
  'spawn 2',
  'spawn 2',
]);
