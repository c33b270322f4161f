/** Proves that a call of a client which waits for a person keeps no other call from its result, says so as a task, and is never carried out once cancelled. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { startClient, taskIn, writeRules } from './mcp-client.ts';

after(closeOpened);

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const FORMS = { elicitation: { form: {} } };

it('a call that needs approval is a task that asks; cancelled, it creates nothing; letters are left to the next wait', async () => {
  const home = makeHome();
  home.configure({ agents: { defaults: { permissions: { ask: ['spawn_agents'] } } } });
  const model = writeRules(home, [
    { when: { step: 0 }, calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'early news' } }] },
    { say: 'done' },
  ]);
  const client = await startClient(home, model, {
    capabilities: { ...TASKS, ...FORMS },
    args: ['--max-wait', '1'],
  });
  const forked = await client.tool('fork', { name: 'kid', prompt: 'work' });
  assert.equal(forked.is_error, false, JSON.stringify(forked.raw));
  const { agent_id = '' } = forked.value.agents[0] ?? {};
  const { result, error } = await client.ask('tools/call', {
    name: 'spawn_agents',
    arguments: { tasks: [{ task: 'later', label: 'later' }] },
  } as object);
  assert.equal(result?.resultType, 'task', JSON.stringify(error ?? result));
  const task = String(result.taskId);
  await taskIn(client, task, ['input_required']);
  // The client's agent carries out nothing else meanwhile.
  const early = await client.tool('wait', { from_agents: [agent_id], timeout: 5 });
  assert.equal(early.is_error, false, JSON.stringify(early.raw));
  assert.equal(early.value.results[0]?.message, undefined);
  assert.equal((await client.ask('tasks/cancel', { taskId: task } as object)).error, undefined);
  await taskIn(client, task, ['completed', 'cancelled']);
  const late = await client.tool('wait', { from_agents: [agent_id], timeout: 5 });
  assert.equal(late.value.results[0]?.message, 'early news', JSON.stringify(late.raw));
  const { value } = await client.tool('list_agents');
  assert.deepEqual(
    value.agents.map(({ name }) => name),
    ['kid'],
  );
});
