// Proves, with a real agent program, that the usage it reports counts towards the budget of its tree, and that exceeding the budget elsewhere ends its prompt.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { AcpServerConfig } from '../../src/models/agent-programs/acp-config.ts';
import { openModel } from '../../src/models/providers.ts';
import { closeLater, closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { type Line, type Play, type Stage, setStage } from './stage.ts';

const PROGRAM = join(import.meta.dirname, '../servers/acp-agent.ts');
after(closeOpened);

async function stage(
  play: Play,
  flags: readonly string[],
  more: Partial<AcpServerConfig> = {},
): Promise<Stage> {
  const program = { command: process.execPath, args: [PROGRAM, ...flags], ...more };
  const model = await openModel('acp:test', {
    providers: {},
    env: process.env,
    acp: { programs: { test: program }, sandboxFor: async () => null, servers: new Map() },
  });
  closeLater(async () => model.close?.());
  const on = await setStage(play, { models: { 'acp:test': model }, cost_usd: 1, toolsets: ['fanout'] });
  closeLater(() => on.close());
  return on;
}

const spawning = (...tasks: string[]): Line => [
  ['spawn_agents', { tasks: tasks.map((task) => ({ task, model: 'acp:test' })) }],
];

it('tokens that a program tells count in the budget of the tree, at the price of its entry; without a price it is refused under a limit on cost', async () => {
  const play: Play = ({ step }) => (step === 0 ? spawning('echo done') : 'all done');
  const priced = await stage(play, ['--usage'], { price: { input: 10_000, cached: 1_000, output: 2_000 } });
  const { root } = await priced.perform('go', { cost_usd: 50 });
  // Ten uncached input tokens, 90 cached, five output tokens; and two requests of the root at one dollar each.
  const tree = await priced.store.tree(root.id);
  assert.ok(Math.abs((tree?.cost_usd ?? 0) - (2 + 0.1 + 0.09 + 0.01)) < 1e-9, String(tree?.cost_usd));
  const told = (await priced.store.usageAfter(0, 10)).filter(({ model }) => model === 'acp:test');
  assert.deepEqual(
    told.map(({ usage: { input, cached, output } }) => ({ input, cached, output })),
    [{ input: 100, cached: 90, output: 5 }],
  );
  const unpriced = await stage(play, ['--usage']);
  const [refused] = await unpriced.results((await unpriced.perform('go', { cost_usd: 50 })).root);
  assert.match(refused?.output ?? '', /what acp:test costs is not known: set acp\.test\.price/);
});

it('a budget that another agent passes ends the prompt of a program, which keeps what it said', async () => {
  const spent = Promise.withResolvers<void>();
  const on = await stage(
    async ({ step }) => {
      if (step === 0) return spawning('hang', 'echo quick');
      await spent.promise;
      return 'all done';
    },
    ['--quota'],
  );
  const ended = on.perform('go', { tokens: 20, cost_usd: null });
  await until(
    async () =>
      on.events.some((event) => event.type === 'delta' && JSON.stringify(event.delta).includes('hanging')),
    'the program is at work',
  );
  spent.resolve();
  const { root } = await ended;
  const programs = (await on.store.agents({ root_id: root.id })).filter(
    ({ config }) => config.model === 'acp:test',
  );
  const states = programs.map(({ state }) => JSON.stringify(state)).sort();
  assert.match(states[0] ?? '', /"completed","result":"quick"/);
  assert.match(states[1] ?? '', /limit \\"tokens\\" of the tree reached: \d+ of 20 tokens used/);
  assert.match(states[1] ?? '', /hanging/);
});

it('a limit on cost lets in a program that is known to tell its cost, or has a price', async () => {
  const tells = async (config: AcpServerConfig) => {
    const acp = { programs: { test: config }, sandboxFor: async () => null, servers: new Map() };
    return (await openModel('acp:test', { providers: {}, env: {}, acp })).tells_cost;
  };
  assert.equal(await tells({ command: '/opt/bin/claude-agent-acp' }), true);
  assert.equal(await tells({ command: 'codex-acp' }), false);
  assert.equal(await tells({ command: 'codex-acp', price: { input: 1, output: 2 } }), true);
});
