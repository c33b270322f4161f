// Proves, on both databases, that children at rest do not count towards the limits on children and live agents and those at work do, that the total limits
// all, and that one `kill` ends several.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { onBothDatabases } from '../both-databases.ts';
import { type Line, parsed, type Scene, setStage } from '../stage.ts';

const forks = (from: number, count: number): Line =>
  Array.from({ length: count }, (_, index) => ['fork', { name: `c${from + index}`, prompt: 'be' }] as const);
const waitFor = (from: number, count: number): Line => [
  ['wait', { timeout: 60, from_agents: Array.from({ length: count }, (_, index) => `c${from + index}`) }],
];

onBothDatabases('places of those who rest', (database) => {
  async function stage(root: readonly ((scene: Scene) => Line)[]) {
    return setStage(
      (scene) => (scene.name === 'main' ? (root[scene.step] ?? (() => 'done'))(scene) : 'report'),
      { database: await database() },
    );
  }

  it('four children, then twelve, then four more', async () => {
    const on = await stage([
      () => forks(0, 4),
      () => waitFor(0, 4),
      () => forks(4, 12),
      () => waitFor(4, 12),
      () => forks(16, 4),
    ]);
    const { agents, root } = await on.perform();
    assert.equal(agents.length, 21);
    assert.ok((await on.results(root)).every(({ status }) => status === 'ok'));
  });

  it('the total limit applies after the others, and its refusal says what to do', async () => {
    const on = await stage([
      () => forks(0, 3),
      () => waitFor(0, 3),
      () => forks(3, 3),
      () => [['send', { to: 'c0', message: 'more' }]],
      () => waitFor(0, 1),
    ]);
    const { agents, root } = await on.perform('go', { children: 3, live: 4, total: 6 });
    assert.equal(agents.length, 6);
    const refused = (await on.results(root)).filter(({ status }) => status === 'error');
    assert.match(
      refused.map(({ output }) => output).join(),
      /limit \\"total\\" reached: 6 of 6.*send more work to one that rests/,
    );
    assert.equal(refused.length, 1);
  });

  it('one kill ends several agents and skips ended ones; with a foreign agent among them none is ended', async () => {
    const on = await stage([
      () => forks(0, 4),
      () => waitFor(0, 4),
      () => [['kill', { agent_id: 'c0' }]],
      () => [['kill', { agent_ids: ['c1', 'main'] }]],
      () => [['kill', { agent_ids: ['c0', 'c1', 'c2', 'c1'] }]],
      () => [['kill', { agent_ids: ['c0', 'c1'] }]],
      () => [['kill', {}]],
    ]);
    const { root } = await on.perform();
    const results = (await on.results(root)).filter(({ name }) => name === 'kill');
    const [, refused, several, dead, nobody] = results.map(({ output }) => output);
    assert.match(refused ?? '', /CANNOT_KILL_SELF/);
    const [c1, c2] = [await on.agent('c1'), await on.agent('c2')];
    assert.deepEqual(new Set(JSON.parse(several ?? '').killed), new Set([c1.id, c2.id]));
    assert.match(dead ?? '', /ALREADY_DEAD/);
    assert.match(nobody ?? '', /INVALID_ARG.*agent_id.*missing/);
    assert.equal((await on.agent('c3')).state.type, 'idle');
    assert.equal(Array.isArray(parsed(results[0]).killed), true);
  });
});
