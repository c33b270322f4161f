// Proves the laws of budgets (docs/budgets.md) on both databases: a tree exceeds its budget by at most one request of each agent, whichever tools create
// its agents; a child's budget is reserved for it, is its maximum, and is returned when it ends; and the model is warned before and told when it is used up.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { until } from '../until.ts';
import { type Database, onBothDatabases, stagesOn } from './both-databases.ts';
import { parsed, type Stage } from './stage.ts';
import { CREATION_PATHS } from './toolsets/creation-path.ts';

const hang = defineTool({
  name: 'hang',
  description: 'Hangs.',
  input: z.strictObject({}),
  side_by_side: true,
  idempotent: false,
  run: (_input, { signal }) =>
    new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
}) as Tool;

const PRICE = 0.05;
const ROOM = { depth: 8, children: 64, live: 64, total: 600 };

/** Number of counted requests of each agent from the one that exceeded the budget on, inclusive. */
async function beyond(on: Stage, budget: number): Promise<ReadonlyMap<string, number>> {
  const over = new Map<string, number>();
  let sum = 0;
  for (const { agent_id, usage } of await on.store.usageAfter(0, 10_000)) {
    sum += usage.cost_usd ?? 0;
    if (sum > budget + 1e-9) over.set(agent_id, (over.get(agent_id) ?? 0) + 1);
  }
  return over;
}

const told = async (on: Stage, agent: Agent) =>
  (await on.store.history(agent.id)).flatMap((message) =>
    message.agent_id === agent.id && message.kind === 'user' && message.content.origin === 'system'
      ? [message.content.text]
      : [],
  );

function suite(database: Database): void {
  const stage = stagesOn(database, { cost_usd: PRICE });

  for (const slash of [false, true])
    it(`a fork bomb by all tools${slash ? ', with slash commands,' : ''} spends its budget, and at most one request of each agent more`, async () => {
      const paths = CREATION_PATHS.filter(
        ({ name }) => name.startsWith('slash') === slash || !/^(slash|process)/.test(name),
      );
      let turn = 0;
      const on = await stage(
        async () => {
          await sleep(turn % 5);
          return paths.map(({ call }) => call(turn++));
        },
        {
          toolsets: [slash ? 'slash' : 'process', 'fanout', 'sessions', 'delegate'],
          terms: { delegation: { ...DEFAULT_TERMS.delegation, max_depth: 8, servers: ['helper'] } },
        },
      );
      const { root } = await on.perform('go', { ...ROOM, cost_usd: 1 });
      const tree = await on.store.tree(root.id);
      // Agent programs whose prompt was aborted because of the budget reported no usage.
      const answered = on.requests.filter(({ signal }) => !signal.aborted).length;
      assert.equal(answered, Math.round((tree?.cost_usd ?? 0) / PRICE));
      assert.ok(on.requests.length >= 20, `the budget was used: ${on.requests.length}`);
      for (const [id, count] of await beyond(on, 1)) assert.equal(count, 1, id);
    });

  it('what a child is given is kept for it, is all that it and its children get, and what is left goes back when it ends', async () => {
    const on = await stage(({ name, step }) => {
      if (name === 'main')
        return (
          (
            [
              [['fork', { name: 'a', prompt: 'go', budget: { usd: 0.3 } }]],
              [['wait', { timeout: 60 }]],
              // Refused: 1 less the root's own three requests, and less the budget of `a`, which rests.
              [['fork', { name: 'b', prompt: 'go', budget: { usd: 0.8 } }]],
              [['kill', { agent_id: 'a' }]],
              [['fork', { name: 'c', prompt: 'go', budget: { usd: 0.4 } }]],
            ] as const
          )[step] ?? 'done'
        );
      if (name === 'a')
        return step === 0
          ? [['fork', { name: 'aa', prompt: 'go', budget: { usd: 0.31 } }]]
          : step === 1
            ? [['send', { to: 'main', message: 'so far' }]]
            : 'well';
      return 'well';
    });
    const { root } = await on.perform('go', { ...ROOM, cost_usd: 1 });
    const [, , refused, , made] = await on.results(root);
    assert.match(
      (parsed(refused).error as { message: string }).message,
      /^fork: field "budget\.usd": 0\.8 is more than what is left for you: \$0\.55\./,
    );
    assert.equal(made?.status, 'ok');
    const [nested] = await on.results(await on.agent('a'));
    assert.match(nested?.output ?? '', /0\.31 is more than what is left for you: \$0\.25/);
    const tree = await on.store.tree(root.id);
    assert.equal(tree?.reserved?.usd.toFixed(2), '0.35');
    assert.deepEqual(
      { ...(await on.agent('a')).budget, limit: 0, spent: 0 },
      { limit: 0, spent: 0, reserved: { tokens: 0, usd: 0 }, above: [], closed: true },
    );
  });

  it('an agent is told once from 80 % on, and answers for the last time while that still fits', async () => {
    const on = await stage(({ name, step }) => {
      if (name !== 'main') return [['wait', { timeout: 0 }]];
      return step === 0 ? [['fork', { name: 'a', prompt: 'go', budget: { usd: 0.5 } }]] : 'done';
    });
    await on.perform('go', { ...ROOM, cost_usd: 10 });
    const a = await on.agent('a');
    assert.equal(a.state.type, 'idle');
    assert.equal(a.budget?.spent.usd.toFixed(2), '0.50');
    const [early, last] = await told(on, a);
    assert.match(
      early ?? '',
      /^budget "usd" for you and the agents below you: \$0\.4 of \$0\.5 used\. Finish before/,
    );
    assert.match(
      last ?? '',
      /^Finish now: budget "usd" for you and the agents below you reached: \$0\.45 of \$0\.5 used/,
    );
    assert.equal((await told(on, a)).length, 2);
  });

  it('tokens read from a cache and the time of others do not count; time that is over does', async () => {
    const on = await stage(({ name, step }) => {
      if (name === 'worker') return new Promise(() => undefined);
      if (name !== 'main') return step === 0 ? [['wait', { timeout: 60 }]] : 'late';
      return step === 0
        ? [
            ['fork', { name: 'worker', prompt: 'go' }],
            ['fork', { name: 'a', prompt: 'go', budget: { seconds: 1, tokens: 30 } }],
          ]
        : 'done';
    });
    await on.start('go', ROOM);
    await until(async () => (await on.agent('a').catch(() => null))?.state.type === 'idle', 'the end of a');
    const a = await on.agent('a');
    assert.equal(a.reply, 'late');
    assert.match((await told(on, a)).join(), /limit reached: time budget of 1 s/);
    assert.deepEqual(a.budget?.spent, { tokens: 24, usd: 2 * PRICE });
  });

  it('an agent that is taken over when its own answer had passed the budget asks no more', async () => {
    const on = await stage(() => [['hang', {}]], { cost_usd: 2, tools: [hang] });
    const { id } = await on.start('go', { cost_usd: 1 });
    await until(async () => (await on.store.agent(id))?.state.type === 'executing', 'the call');
    const again = await on.reopen();
    await again.runtime.resume(id);
    const { root } = await again.runtime.settled(id);
    assert.equal(again.requests.length, 0);
    assert.match(root.state.type === 'errored' ? root.state.failure.error : '', /^limit "cost" of the tree/);
  });

  it('a person raises and lowers the budget of an agent, out of what is left above it, and a retry goes on', async () => {
    const on = await stage(({ name, step }) => {
      if (name !== 'main') return [['wait', { timeout: 0 }]];
      return step === 0 ? [['fork', { name: 'a', prompt: 'go', budget: { usd: 0.2 } }]] : 'done';
    });
    const { root } = await on.perform('go', { ...ROOM, cost_usd: 1 });
    const { id, parent_id } = await on.agent('a');
    const change = on.store.changeBudget;
    const kept = async () => {
      const { usd } = (await on.store.tree(root.id))?.reserved ?? { usd: 0 };
      return [usd.toFixed(2), (await on.agent('a')).budget?.limit.usd];
    };
    assert.deepEqual(await kept(), ['0.00', 0.2]);
    assert.deepEqual(await change(id, { usd: 5 }), {
      ok: false,
      error: 'only $0.65 is left in the budget above it: raise that budget first',
    });
    assert.match(JSON.stringify(await change(id, { tokens: 5 })), /no budget \\"tokens\\" of its own/);
    assert.match(JSON.stringify(await change(id, { usd: null })), /must stay limited/);
    assert.deepEqual(await kept(), ['0.00', 0.2]);
    assert.deepEqual(await change(id, { usd: 0.5 }), { ok: true });
    // Idempotent.
    assert.deepEqual(await change(id, { usd: 0.5 }), { ok: true });
    assert.deepEqual(await kept(), ['0.30', 0.5]);
    assert.deepEqual(await change(id, { usd: 0.4 }), { ok: true });
    assert.deepEqual(await kept(), ['0.20', 0.4]);
    const before = on.requests.length;
    await on.runtime.send(id, 'go on');
    await on.runtime.settled(root.id);
    assert.equal(on.requests.length - before, 5);
    assert.deepEqual(await kept(), ['0.00', 0.4]);
    assert.deepEqual(await change(parent_id ?? '', { usd: 0.1 }), { ok: true });
    await on.runtime.send(id, 'more');
    await on.runtime.settled(root.id);
    const { state } = await on.agent('a');
    assert.match(
      state.type === 'errored' ? state.failure.error : '',
      /budget "usd" for you and the agents below you reached/,
    );
    assert.equal(on.requests.length - before, 5);
    await change(root.id, { usd: 2 });
    assert.deepEqual(await change(id, { usd: 0.45 }), { ok: true });
    await on.runtime.retry(id);
    await on.runtime.settled(root.id);
    const own = on.requests.slice(before).filter(({ agent }) => agent.id === id);
    assert.equal(own.length, 6);
    await on.runtime.kill(id);
    assert.match(JSON.stringify(await change(id, { usd: 1 })), /the agent has ended/);
    assert.deepEqual((await on.store.tree(root.id))?.limits.cost_usd, 2);
  });

  it('a delegation to an agent program can be given a budget, too', async () => {
    const on = await stage(
      ({ name, step }) =>
        name === 'main' && step === 0
          ? [['subagent_delegate', { task: 'go', description: 'part', budget: { usd: 0.3 } }]]
          : 'well',
      {
        toolsets: ['delegate'],
        terms: { delegation: { ...DEFAULT_TERMS.delegation, servers: ['helper'] } },
      },
    );
    await on.perform('go', { ...ROOM, cost_usd: 1 });
    const { budget } = await on.agent('part');
    assert.deepEqual([budget?.limit.usd, budget?.spent.usd, budget?.closed], [0.3, PRICE, true]);
  });

  it('a tree that nobody limited stops at the usual sum and says how to go on; whoever sets tokens or cost is the only one to limit both', async () => {
    const on = await stage(() => [['wait', { timeout: 0 }]], { cost_usd: 2 });
    const { root } = await on.perform('go');
    assert.match(
      root.state.type === 'idle' ? (root.state.limit ?? '') : '',
      /^limit "cost" of the tree reached: \$2 of \$5 used, .* No limit was set for this tree, .* \(--limit cost=none lifts it\)\. .* \(--limit cost=10\)$/,
    );
    const again = await on.reopen(() => 'well');
    await again.runtime.resume(root.id, { limits: { tokens: 100 } });
    const { tokens, cost_usd, usual } = (await again.store.tree(root.id))?.limits ?? {};
    assert.deepEqual([tokens, cost_usd, usual], [100, null, undefined]);
  });
}

onBothDatabases('budgets', suite);
