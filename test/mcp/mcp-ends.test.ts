/** Proves that a client can tell apart agents that finished, failed, were cancelled and were killed, in lists and in what `wait` collects. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { makeHome } from '../cli/run-cli.ts';
import { closeOpened } from '../close-opened.ts';
import { startClient, writeRules } from './mcp-client.ts';

after(closeOpened);

const RULES = [
  { when: { user: 'hang' }, delay_ms: 60_000, say: 'late' },
  { when: { user: 'finish' }, say: 'finished' },
  {
    when: { user: 'delegate', step: 0 },
    calls: [{ name: 'subagent_spawn', input: { task: 'finish', description: 'below' } }],
  },
  { when: { user: 'delegate' }, say: 'delegated' },
  {
    when: { root: true, user: '^split$', step: 0 },
    calls: [{ name: 'fork', input: { name: 'kid', prompt: 'break' } }],
  },
  { when: { root: true, user: 'split|kid' }, say: 'My child failed.' },
];

it('agents that ended', async () => {
  const home = makeHome();
  const client = await startClient(home, writeRules(home, RULES), {
    args: ['--max-wait', '5', '--toolset', 'process', '--toolset', 'delegate'],
  });
  // No rule answers "break": the request fails.
  const tasks = ['finish', 'break', 'hang', 'hang'].map((task, at) => ({ task, label: `t${at}` }));
  const labels = tasks.map(({ label }) => label);
  await client.tool('wait', { timeout: 0 });
  const started = client.tool('spawn_agents', { tasks });
  for (const name of ['delegate', 'hang', 'break'])
    await client.tool('fork', { name: `f ${name}`, prompt: name });
  await client.tool('wait', { timeout: 5, from_agents: ['f delegate', 'f break', 't0', 't1'] });
  await client.tool('kill', { agent_ids: ['t2', 'f hang'] });
  const { runs } = JSON.parse((await home.run(['subagent', 'list', '--json'])).stdout);
  const run = runs.find(({ label }: { label: string }) => label === 't3').id;
  assert.equal((await home.run(['subagent', 'cancel', run])).code, 0);
  await started;
  const { agents } = (await client.tool('list_agents', { all: true })).value;
  assert.deepEqual(agents.map(({ name, status }) => `${name}: ${status}`).sort(), [
    'below: done',
    'f break: idle',
    'f delegate: idle',
    'f hang: dead',
    't0: done',
    't1: failed',
    't2: dead',
    't3: cancelled',
  ]);
  const { results } = (
    await client.tool('wait', { timeout: 5, from_agents: [...labels, 'f hang', 'f break', 'below'] })
  ).value;
  assert.deepEqual(
    results.map(({ name, outcome }) => `${name}: ${outcome}`),
    [
      ...['t0: done', 't1: failed', 't2: stopped', 't3: stopped'],
      ...['f hang: stopped', 'f break: failed', 'below: done'],
    ],
  );
  assert.deepEqual(
    results.map(({ name, status, message, error }) => [
      name,
      status,
      message ?? /kill|no rule|cancel/.exec(error ?? '')?.[0],
    ]),
    [
      ['t0', 'received', 'finished'],
      ['t1', 'failed', 'no rule'],
      ['t2', 'dead', 'kill'],
      ['t3', 'cancelled', 'cancel'],
      ['f hang', 'dead', 'kill'],
      ['f break', 'idle', 'no rule'],
      ['below', 'received', 'finished'],
    ],
  );
});

it('a tree that was started says which of its agents failed', async () => {
  const home = makeHome();
  const client = await startClient(home, writeRules(home, RULES));
  const { results } = (await client.tool('start_tree', { prompt: 'split' })).value;
  const [row] = results;
  assert.deepEqual([row?.outcome, row?.last_reply], ['done', 'My child failed.']);
  assert.match(row?.outcome_text ?? '', /^done, 1 of 1 failed: bad_request: no rule/);
});

it('calls in the words of other programs are read as they are meant', async () => {
  const home = makeHome();
  const client = await startClient(home, writeRules(home, RULES));
  const started = (await client.tool('start_tree', { task: 'finish', title: 'mine' } as never)).value;
  assert.deepEqual([started.results[0]?.name, started.results[0]?.last_reply], ['mine', 'finished']);
  const sent = (await client.tool('send', { agent_id: 'mine', text: 'finish' } as never)).value;
  assert.equal((sent as unknown as { name: string }).name, 'mine');
  const waited = (await client.tool('wait', { timeout_seconds: '5s', agent_ids: 'mine' } as never)).value;
  assert.equal(waited.results[0]?.last_reply, 'finished');
  const { value, is_error } = await client.tool('start_tree', { prompt: 'x', colour: 'red' } as never);
  assert.ok(is_error);
  assert.match(JSON.stringify(value), /start_tree: field .*colour.*not known.* For example: start_tree /);
});
