// Proves that errors about calls name only fields that the agent's model was sent, in lists and in examples, at every depth and for every kind of tool.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { argumentsError } from '../../../src/kernel/reading/call-errors.ts';
import { closeOpened } from '../../close-opened.ts';
import { type Line, setStage } from '../stage.ts';

afterEach(closeOpened);

/** Fields that are sent only where they can be used. */
const HIDDEN = /\b(profile|budget|worktree|output_schema|read_first|deliver|serverName)\b/;

async function errors(calls: Line, limits = {}): Promise<string[]> {
  const on = await setStage(({ step }) => (step === 0 ? calls : 'done'), {
    toolsets: ['process', 'fanout', 'sessions', 'delegate'],
  });
  const { root } = await on.perform('go', limits);
  return (await on.results(root)).map(({ output }) => output);
}

const WRONG: Line = [
  ['fork', { name: 'a', prompt: 'b', colour: 1 }],
  ['fork', { name: 'a', prompt: '', budget: { usd: 1 } }],
  ['fork', '{"name": '],
  ['spawn_agents', { tasks: [{ task: 'a', colour: 1 }] }],
  ['sessions_spawn', { task: 'a', colour: 1 }],
  ['subagent_spawn', { task: 'a', description: 'b', colour: 1 }],
  ['Task', { prompt: 'a', budget: { usd: 1 } }],
];

it('what was not sent is not named', async () => {
  const all = await errors(WRONG);
  assert.equal(all.length, 7);
  for (const error of all) assert.doesNotMatch(error, HIDDEN);
  assert.match(
    all[0] ?? '',
    /field \\?"colour\\?": not known; the fields are: name, prompt, model\. For example: fork/,
  );
  assert.match(all[1] ?? '', /"prompt\\?": .*; the fields are: name, prompt, model\. For example/);
  assert.match(all[2] ?? '', /not valid JSON.*; the fields are: name, prompt, model\. For example/);
  assert.match(
    all[3] ?? '',
    /the fields of tasks\.0 are: task, cwd, label, model, timeout_seconds\. For example/,
  );
});

it('what was sent is: a limit on what may be spent makes budgets useful', async () => {
  const all = await errors(WRONG, { tokens: 100_000 });
  assert.match(all[0] ?? '', /the fields are: name, prompt, model, budget\. For example/);
  assert.match(all[1] ?? '', /For example: fork .*budget/);
  assert.match(all[2] ?? '', /the fields are: name, prompt, model, budget\./);
});

it('an example repeats no long value, such as a schema of 60,000 characters', () => {
  const properties = { task: { type: 'string' }, schema: { type: 'object' } };
  const tool = { name: 'start', input: { type: 'object', properties, required: ['task'] } };
  const shown = (schema: object) => argumentsError(tool, 'a fault', { task: 'a', schema });
  assert.match(shown({ type: 'string' }), /"schema":\{"type":"string"\}\}$/);
  assert.match(shown({ description: 'x'.repeat(60_000) }), /"schema":"<schema>"\}$/);
});
