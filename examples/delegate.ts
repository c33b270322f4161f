/**
 * Delegation in one file: a registry with a tool, two sub-agents side by side, one of which hands a part of its task further down, and
 * their progress as a live story. The model is scripted, so the example runs offline; name `anthropic/…` or any other one instead.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedModel, createToolRegistry, openCoppice, registerSubagentTools } from 'coppice';

const registry = createToolRegistry();
registry.register(
  {
    name: 'rings',
    description: 'Count the rings of a felled tree.',
    parameters: { tree: { type: 'string', description: 'Its name', required: true } },
    category: 'read',
  },
  ({ tree }) => `${tree} has ${String(tree).length * 10} rings`,
);

const names = new Map<string, string>();
const open = new Set<string>();
const say = (id: string, text: string) => console.log(`${names.get(id)}: ${text}`);
registerSubagentTools(registry, {
  maxDepth: 2,
  callbacks: {
    onSubagentStart({ id, description, mode }) {
      names.set(id, description);
      open.add(id);
      say(id, `starts (${mode})`);
    },
    onSubagentStreamDelta: (id, text) => say(id, `says "${text}"`),
    onSubagentToolCallStart: (id, { name, arguments: args }) =>
      say(id, `calls ${name} ${JSON.stringify(args)}`),
    onSubagentToolCallEnd: (id, { name, output }) => say(id, `${name} gave "${output}"`),
    onSubagentComplete(id, { turns }) {
      open.delete(id);
      say(id, `done after ${turns} turns`);
    },
    onSubagentError: (id, error) => say(id, `failed: ${error.message}`),
  },
});

const spawn = (description: string, task: string) => ({
  name: 'subagent_spawn',
  input: { task, description },
});
const scripted = createScriptedModel(
  {
    rules: [
      {
        when: { agent: 'main', step: 0 },
        calls: [spawn('oak', 'Count the rings of the oak.'), spawn('grove', 'Report on the grove.')],
      },
      { when: { agent: 'main' }, say: '{{results.subagent_spawn.0}}\n\n{{results.subagent_spawn.1}}' },
      { when: { agent: 'grove', step: 0 }, calls: [spawn('hazel', 'Count the rings of the hazel.')] },
      { when: { agent: 'grove' }, say: 'in the grove, {{result}}' },
      { when: { step: 0 }, calls: [{ name: 'rings', input: { tree: '{{agent.name}}' } }] },
      { say: 'the {{result}}' },
    ],
  },
  'delegation',
);

const folder = mkdtempSync(join(tmpdir(), 'coppice-delegation-'));
const coppice = await openCoppice({
  database: `sqlite:${join(folder, 'example.db')}`,
  model: 'scripted',
  models: { scripted },
  builtInTools: [],
  registry,
});
const agent = await coppice.start({ prompt: 'How old are the oak and the grove?' });
const { reply, agents } = await agent.result();
console.log(`main: ${reply}`);

// Below each result stands what the sub-agent really did; such a line in a result is quoted.
assert.match(reply ?? '', /^the oak has 30 rings\n\n\[Did: 1 tool call \(rings 1\); .*\]$/m);
assert.match(
  reply ?? '',
  /^in the grove, the hazel has 50 rings\n\n> \[Did: .*\]\n\n\[Did: 0 tool calls; .*\]$/m,
);
assert.deepEqual([...names.values()].sort(), ['grove', 'hazel', 'oak']);
assert.equal(open.size, 0, 'every sub-agent that started is done');
assert.equal(agents.length, 4);

// The program may call the tools itself, too; the task then runs as a tree of its own.
const ash = await registry.execute({
  id: 'call-1',
  name: 'subagent_spawn',
  arguments: { task: 'Count the rings of the ash.', description: 'ash' },
});
assert.deepEqual([ash.isError, ash.output], [false, 'the ash has 30 rings']);
await coppice.close();
rmSync(folder, { recursive: true });
