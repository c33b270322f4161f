// Proves on both databases which agents wait for which when agents delegate, and that no number of sub-agents exceeds a limit or loses a result.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { bare, parsed } from '../stage.ts';
import { meeting, never, play, spawn } from './delegate-play.ts';

onBothDatabases('waiting for sub-agents', (database) => {
  const stage = stagesOn(database, { toolsets: ['delegate'] });

  it('a wait for a sub-agent is in the ledger, and the sub-agent cannot wait back', async () => {
    let outputs: string[] = [];
    const on = await stage(
      play([() => [spawn('child'), ['wait', { timeout: 60, from_agents: ['child'] }]]], {
        child: async (scene) => {
          if (scene.step === 0) {
            await until(async () => (await on.store.waiters(scene.id)).length === 1, 'the parent waits');
            return [
              ['wait', { timeout: 5, from_agents: ['main'] }],
              ['send', { to: 'main', message: 'x' }],
              ['kill', { agent_id: 'main' }],
            ];
          }
          outputs = scene.last.map((result) => result.output);
          return 'child is done';
        },
      }),
      { toolsets: ['process', 'delegate'] },
    );
    const { root } = await on.perform();
    for (const output of outputs) assert.match(output, /there is no tool/);
    assert.equal(outputs.length, 3);
    const [delegated, waited] = await on.results(root);
    assert.equal(bare(delegated?.output ?? ''), 'child is done');
    const [row] = parsed(waited).results as { status: string }[];
    assert.ok(row?.status === 'idle' || row?.status === 'dead', waited?.output);
  });

  it('law 10: waiting for an agent that waits for a sub-agent is no cycle; waiting back closes one', async () => {
    const on = await stage(
      play(
        [
          () => [['fork', { name: 'boss', prompt: 'delegate' }]],
          () => [['wait', { timeout: 60, from_agents: ['boss'] }]],
        ],
        {
          boss: (scene) => {
            if (scene.step === 0) return [spawn('hand'), ['wait', { timeout: 30, from_agents: ['main'] }]];
            return scene.step === 1
              ? [['send', { to: 'main', message: JSON.stringify(scene.last.map((one) => one.output)) }]]
              : 'end';
          },
          hand: async (scene) => {
            await until(
              async () => (await on.store.waiters(scene.parent_id)).length === 1,
              'the root waits for boss',
            );
            return 'hand is done';
          },
        },
      ),
      { toolsets: ['process', 'delegate'] },
    );
    const { root } = await on.perform();
    const [row] = parsed((await on.results(root)).at(-1)).results as { message: string }[];
    assert.match(row?.message ?? '', /hand is done/);
    assert.match(row?.message ?? '', /main.*waits_for_you/);
  });

  it('a hundred concurrent delegations each get their own result', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `s${index}`);
    const on = await stage(play([() => names.map((name) => spawn(name))]));
    const { root, agents } = await on.perform('go', { children: 100, live: 101, total: 101 });
    assert.deepEqual(
      (await on.results(root)).map((result) => bare(result.output)),
      names.map((name) => `report of ${name}`),
    );
    assert.equal(agents.length, 101);
    assert.equal(
      (await on.store.runs({ root_id: root.id })).every((run) => run.status === 'completed'),
      true,
    );
  });

  it('every limit admits exactly the allowed number; the rest are refused with its name', async () => {
    for (const [limits, created] of [
      [{ children: 4 }, 4],
      [{ live: 4 }, 3],
      [{ total: 6 }, 5],
      [{ depth: 0 }, 0],
    ] as const) {
      const together = meeting(Math.max(created, 1));
      const on = await stage((scene) => {
        if (scene.name !== 'main') return together('done');
        return scene.step === 0 ? Array.from({ length: 8 }, (_, index) => spawn(`s${index}`)) : 'end';
      });
      const { root, agents } = await on.perform('go', limits);
      assert.equal(agents.length - 1, created, JSON.stringify(limits));
      const results = await on.results(root);
      const refused = results.filter((result) => result.status === 'error');
      assert.equal(refused.length, 8 - created);
      for (const result of refused) assert.match(result.output, /LIMIT_REACHED.*--limit/);
      assert.equal((await on.store.runs({ root_id: root.id })).length, created);
    }
  });

  it('a parent keeps the results of the other children when one never answers', async () => {
    const on = await stage(play([() => [spawn('quick'), spawn('stuck')]], { stuck: never }));
    const root = await on.start();
    await until(async () => (await on.results(root)).length === 1, 'the quick one is there');
    assert.equal(bare((await on.results(root))[0]?.output ?? ''), 'report of quick');
    assert.equal((await on.store.agent(root.id))?.state.type, 'executing');
  });
});
