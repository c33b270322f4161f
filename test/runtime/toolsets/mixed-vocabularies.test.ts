// Proves, on both databases, that vocabularies can be mixed in one tree: a fork that fans out, whose child delegates to an agent program; that each
// outcome returns as its own vocabulary defines, even after a restart, and that one kill ends all agents.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { bare, forked, type Line, type Play, parsed, type Scene, type Stage } from '../stage.ts';

/** Name, origin, depth and parent of each agent. */
const TREE = [
  ['main', 'root', 0, null],
  ['lead', 'fork', 1, 'main'],
  ['counter', 'spawn', 2, 'lead'],
  ['asker', 'spawn', 2, 'lead'],
  ['question', 'delegate', 3, 'asker'],
];

const LINES: Readonly<Record<string, readonly ((scene: Scene) => Line)[]>> = {
  main: [
    () => [['fork', { name: 'lead', prompt: 'find out both' }]],
    (scene) => [['wait', { timeout: 60, from_agents: forked(scene) }]],
    (scene) => `heard: ${(parsed(scene.last[0]).results as { message: string }[])[0]?.message}`,
  ],
  lead: [
    () => [
      [
        'spawn_agents',
        {
          tasks: [
            { task: 'count', label: 'counter' },
            { task: 'ask', label: 'asker' },
          ],
        },
      ],
    ],
    (scene) => [['send', { to: scene.parent_id, message: outcomes(scene.user).join(' and ') }]],
  ],
  counter: [() => [['submit_result', { result: 'three' }]]],
  asker: [
    () => [['subagent_delegate', { task: 'how many?', description: 'question' }]],
    (scene) => [['submit_result', { result: `the program says ${bare(scene.last[0]?.output ?? '')}` }]],
  ],
};

function outcomes(text: string): string[] {
  const { sub_agent_results } = JSON.parse(text) as {
    sub_agent_results: { outcome: { success?: { result: string } } }[];
  };
  return sub_agent_results.map(({ outcome }) => outcome.success?.result ?? JSON.stringify(outcome));
}

/** A play in which the agent program answers when `gate` resolves, and all others follow their lines. */
function playOf(gate: Promise<void>): Play {
  return async (scene) => {
    if (scene.name !== 'question') return LINES[scene.name]?.[scene.step]?.(scene) ?? 'done';
    await gate;
    return 'four';
  };
}

const never = new Promise<void>(() => {});

onBothDatabases('mixed vocabularies', (database) => {
  const stage = stagesOn(database, {
    toolsets: ['process', 'fanout', 'delegate'],
    terms: { delegation: { ...DEFAULT_TERMS.delegation, servers: ['program'] } },
  });

  async function placed(on: Stage, root_id: string): Promise<unknown[]> {
    const agents = await on.store.agents({ root_id });
    const names = new Map(agents.map(({ id, name }) => [id, name]));
    return agents
      .map(({ name, origin, depth, parent_id }) => [name, origin, depth, names.get(parent_id ?? '') ?? null])
      .toSorted(
        (a, b) => TREE.findIndex(([name]) => name === a[0]) - TREE.findIndex(([name]) => name === b[0]),
      );
  }

  it('every outcome is returned in its own way: return value, fan-in, mail', async () => {
    const on = await stage(playOf(Promise.resolve()));
    const { root, reply } = await on.perform();
    assert.equal(reply, 'heard: three and the program says four');
    assert.deepEqual(await placed(on, root.id), TREE);
    const agents = await on.store.agents({ root_id: root.id });
    assert.equal(agents.find(({ name }) => name === 'question')?.config.model, 'acp:program');
    const tree = await on.store.tree(root.id);
    assert.equal(tree?.tokens, 12 * on.requests.length);
    assert.deepEqual([tree?.live, tree?.total], [2, 5]);
    for (const { id } of agents) assert.deepEqual(await on.store.waiters(id), []);
  });

  it('each agent waits for the one below it, and all continue after a restart', async () => {
    const on = await stage(playOf(never));
    const root = await on.start();
    await until(async () => (await placed(on, root.id)).length === 5, 'all five are there');
    await until(async () => (await on.agent('lead')).state.type === 'awaiting', 'the fork awaits its fan-in');
    for (const [name, , , above] of TREE) {
      if (above === null || name === 'counter') continue;
      const [below, waiter] = [await on.agent(String(name)), await on.agent(String(above))];
      await until(
        async () => (await on.store.waiters(below.id)).includes(waiter.id),
        `${above} waits for ${name}`,
      );
    }
    const again = await on.reopen(playOf(Promise.resolve()));
    const report = await again.runtime.resume(root.id);
    assert.equal(report.broken.length, 0);
    const { reply } = await again.runtime.settled(root.id);
    assert.equal(reply, 'heard: three and the program says four');
    assert.deepEqual(await placed(again, root.id), TREE);
  });

  it('one kill ends the fork and all its descendants, however they were created', async () => {
    const on = await stage(playOf(never));
    const root = await on.start();
    await until(async () => (await placed(on, root.id)).length === 5, 'all five are there');
    await until(async () => (await on.agent('counter')).state.type === 'completed', 'the counter is done');
    await on.runtime.kill((await on.agent('lead')).id);
    await on.runtime.settled(root.id);
    // The report of the kill may come after the end of the wait, and is then a turn of its own.
    const said = (await on.store.history(root.id)).flatMap((message) =>
      message.kind === 'assistant' ? message.content.parts : [],
    );
    assert.ok(said.some((part) => part.type === 'text' && part.text === 'heard: undefined'));
    for (const name of ['lead', 'asker', 'question'])
      assert.equal((await on.agent(name)).state.type, 'killed', name);
    assert.equal((await on.agent('counter')).state.type, 'completed');
    assert.equal((await on.store.tree(root.id))?.live, 1);
    assert.deepEqual(
      (await on.store.runs({ root_id: root.id })).map(({ status }) => status),
      ['cancelled'],
    );
  });
});
