// Proves, on both databases, that a person at the terminal is asked before a limit of the tree ends it: once for all its agents, with twice the limit if they agree,
// as without a person if they decline; and that each half and 80 % of a limit is told once, to people only.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../src/records/agent/agent.ts';
import { until } from '../until.ts';
import { type Database, onBothDatabases, stagesOn } from './both-databases.ts';
import { HandClock } from './hand-clock.ts';
import { withApprovals } from './permissions/approval-stage.ts';
import { besideWorker, type Scene, type Stage, type StageOptions } from './stage.ts';

const PRICE = 0.1;
/** Calls until so many answers were given. */
const steps =
  (count: number) =>
  ({ step }: Scene) =>
    step < count ? ([['wait', { timeout: 0 }]] as const) : 'all done';

async function warnings(on: Stage, agent: Agent): Promise<readonly string[]> {
  const history = await on.store.history(agent.id);
  return history.flatMap((one) =>
    one.kind === 'event' && one.content.data?.about === 'limit' ? [one.content.text] : [],
  );
}

function suite(database: Database): void {
  const plain = stagesOn(database, { cost_usd: PRICE });
  const stage = async (play: Parameters<typeof plain>[0], options: StageOptions = {}) =>
    withApprovals(await plain(play, { can_ask: 'terminal', ...options }), []);

  it('an allowed raise doubles the limit, keeps the other defaults, and nothing of it reaches the model', async () => {
    const on = await stage(steps(60));
    const root = await on.start('go', { turns: 100 });
    const [ask] = await on.asked(root);
    assert.match(ask?.subject ?? '', /^\$4\.9 of \$5 used\. Allow as much again and go on\?/);
    await on.allow(ask);
    const { reply, failure } = await on.runtime.settled(root.id);
    assert.deepEqual([reply, failure], ['all done', null]);
    const { tokens, cost_usd, usual } = (await on.store.tree(root.id))?.limits ?? {};
    assert.deepEqual([tokens, cost_usd, usual], [2_000_000, 10, true]);
    assert.deepEqual(await on.store.asks({ root_id: root.id, open: true }), []);
    const sent = JSON.stringify(on.requests.at(-1)?.messages);
    assert.doesNotMatch(sent, /Allow as much again|of the limit/);
  });

  it('a declined one ends the tree as without a person, who is not asked', async () => {
    const on = await stage(steps(60));
    const root = await on.start('go', { cost_usd: 1 });
    await on.deny((await on.asked(root))[0]);
    const declined = await on.runtime.settled(root.id);
    const alone = await plain(steps(60), { can_ask: true });
    const ended = await alone.perform('go', { cost_usd: 1 });
    const limitOf = ({ state }: Agent) => (state.type === 'idle' ? state.limit : null);
    assert.match(limitOf(declined.root) ?? '', /^limit "cost" of the tree reached: \$0\.9 of \$1 used/);
    assert.equal(limitOf(declined.root), limitOf(ended.root));
    assert.deepEqual(await alone.store.asks({ root_id: ended.root.id }), []);
  });

  it('agents that reach it together ask once; requests of a turn are asked about, too', async () => {
    const on = await stage(({ name, step, results }) => {
      if (name !== 'main') return step < 4 ? [['wait', { timeout: 0 }]] : 'well';
      if (step === 0) return ['a', 'b', 'c'].map((child) => ['fork', { name: child, prompt: 'go' }] as const);
      const ids = results
        .slice(0, 3)
        .map(({ output }) => (JSON.parse(output) as { agent_id: string }).agent_id);
      return step === 1 ? [['wait', { timeout: 600, from_agents: ids }]] : 'all done';
    });
    const root = await on.start('go', { cost_usd: 1 });
    const [asked] = await on.asked(root);
    const told = async () =>
      (await on.store.agents({ root_id: root.id })).filter(
        ({ doing }) => doing === 'waits for your answer about the limit of dollars',
      );
    await until(async () => (await told()).length === 2, 'the others say what they wait for');
    await on.allow(asked);
    assert.equal((await on.runtime.settled(root.id)).reply, 'all done');
    assert.equal((await on.store.asks({ root_id: root.id })).length, 1);
    assert.deepEqual(await told(), []);
    const turns = await stage(steps(6));
    const long = await turns.start('go', { turns: 4 });
    const [ask] = await turns.asked(long);
    assert.match(ask?.subject ?? '', /^4 model requests of one turn are nearly used/);
    await turns.allow(ask);
    assert.equal((await turns.runtime.settled(long.id)).reply, 'all done');
  });

  it('the time that a person takes counts for none of the agents that wait for the answer', async () => {
    const clock = new HandClock();
    const on = await stage(
      ({ name, step }) => {
        if (name === 'c') return step === 0 ? [['wait', { timeout: 86_400 }]] : 'well';
        if (name !== 'main') return step < 4 ? [['wait', { timeout: 0 }]] : 'well';
        return step === 0
          ? ['a', 'b', 'c'].map((child) => ['fork', { name: child, prompt: 'go' }])
          : 'all done';
      },
      { clock },
    );
    const root = await on.start('go', { turns: 4, run_ms: 3_600_000 });
    const [asked] = await on.asked(root);
    const held = async () =>
      (await on.store.agents({ root_id: root.id })).filter(
        ({ state }) => state.type === 'requesting' && state.held,
      );
    await until(async () => {
      clock.pass(1_000);
      return (await held()).length === 1;
    }, 'the other one waits');
    clock.pass(7_000_000);
    const stateOf = async (child: string) =>
      (await on.store.agents({ root_id: root.id })).find(({ name }) => name === child)?.state;
    await until(async () => (await stateOf('c'))?.type !== 'executing', 'an agent that no person holds ends');
    await on.allow(asked);
    await on.runtime.settled(root.id);
    const agents = await on.store.agents({ root_id: root.id });
    const children = agents.filter(({ name, parent_id }) => parent_id === root.id && name !== 'c');
    assert.deepEqual(
      children.map(({ reply, state }) => [reply, state.type === 'idle' ? state.limit : state.type]),
      [
        ['well', undefined],
        ['well', undefined],
      ],
    );
  });

  it('an interrupt while a person is asked ends the turn; the next turn asks again', async () => {
    const on = await stage(steps(14));
    const root = await on.start('go', { cost_usd: 1 });
    await on.asked(root);
    await on.runtime.interrupt(root.id, 'enough');
    await on.runtime.settled(root.id);
    assert.deepEqual(await on.store.asks({ root_id: root.id, open: true }), []);
    await on.runtime.send(root.id, 'go on');
    await on.allow((await on.asked(root))[0]);
    assert.equal((await on.runtime.settled(root.id)).reply, 'all done');
  });

  it('each half and 80 % is told once, also in the next process', async () => {
    const on = await plain(steps(7));
    const { root } = await on.perform('go', { cost_usd: 1, turns: 20 });
    const said = ['half', '80 %'].map(
      (share) => `${share} of the limit "cost" of the tree, in dollars, is used`,
    );
    const told = await warnings(on, root);
    assert.deepEqual(
      told.map((text) => text.replace(/:.*/, '')),
      said,
    );
    const again = await on.reopen(() => 'well');
    await again.runtime.resume(root.id);
    await again.runtime.send(root.id, 'more');
    await again.runtime.settled(root.id);
    assert.deepEqual(await warnings(again, root), told);
  });

  it('half and 80 % of the run time of a turn are told while it lasts, once', async () => {
    const clock = new HandClock();
    const on = await plain(
      besideWorker(({ step }) => (step < 1 ? [['wait', { timeout: 3_600 }]] : 'all done')),
      { clock },
    );
    const root = await on.start('go', { run_ms: 1_000_000 });
    await until(async () => (await on.store.agent(root.id))?.doing === 'wait for a message', 'the wait');
    for (const passes of [510_000, 300_000]) {
      const before = (await warnings(on, root)).length;
      clock.pass(passes);
      await until(async () => (await warnings(on, root)).length > before, 'a warning');
    }
    assert.deepEqual(await warnings(on, root), [
      'half of the limit "run" of a turn is used: 500 of 1000 s',
      '80 % of the limit "run" of a turn is used: 800 of 1000 s',
    ]);
    await on.runtime.kill(root.id);
  });
}

onBothDatabases('limits that a person raises', suite);
