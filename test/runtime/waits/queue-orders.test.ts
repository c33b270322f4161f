// Proves, on both databases and without a poll, that a queued run begins when the run that holds its slot ends or is killed in another process, although no
// mail tells the process of the queued run.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { DEEP } from '../../house/deep.ts';
import { onBothDatabases } from '../both-databases.ts';
import { concurrent, spawn } from '../toolsets/sessions-play.ts';
import { type Background, everyOrder, newGround } from './every-order.ts';
import { cast, fork, requests } from './ordered-family.ts';
import type { World } from './ordered-world.ts';

const ENDS = ['ends', 'is killed', 'goes with its parent'] as const;

/** Lets two processes lead one tree: `right` a run and the agent that started it, `left` the rest. */
async function apart(world: World, play: Parameters<World['process']>[1]) {
  const options = { toolsets: ['process', 'sessions'], terms: concurrent(1) };
  const first = await world.process('first', play, options);
  const root = await first.start();
  for (const name of ['main', 'mid', 'main']) await world.cue(name);
  const left = await world.process('left', play, options);
  const right = await world.process('right', play, options);
  await world.dies('first');
  const mid = await world.agent('mid', root.id);
  const holder = await world.agent('holder', root.id);
  await world.share([mid, holder], left, right);
  return { root, mid, holder, left, right };
}

onBothDatabases('a run whose place another process holds', (database, kind) => {
  let ground: Background;
  before(async () => {
    ground = await newGround(await database());
  });
  after(() => ground.close());

  for (const end of ENDS)
    it(`begins when that one ${end}`, async () => {
      const play = cast({
        main: [[fork('mid')], [spawn('next', { label: 'next' })], 'done'],
        mid: [[spawn('holder', { label: 'holder' })], 'done'],
      });
      await everyOrder(
        async (world) => {
          const { root, mid, holder, right } = await apart(world, play);
          const next = await world.agent('next', root.id);
          const status = async () =>
            (await world.store.runs({ root_id: root.id })).find(({ agent_id }) => agent_id === next.id)
              ?.status;
          assert.equal(await status(), 'queued');
          if (end !== 'ends')
            world.may('a person kills', 'right', () =>
              right.runtime.kill(end === 'is killed' ? holder.id : mid.id),
            );
          return async () => assert.equal(await status(), 'completed');
        },
        ground,
        { preemptions: 0, first: DEEP ? 12 : kind === 'SQLite' ? 4 : 1 },
      );
    });

  it('also begins when that run ends while it is created, when no signal for a waiting run is sent', async () => {
    const play = cast({
      main: [[fork('mid')], 'done', [spawn('next', { label: 'next' })], 'done'],
      mid: [[spawn('holder', { label: 'holder' })], 'done'],
    });
    await everyOrder(
      async (world) => {
        const { root, left } = await apart(world, play);
        await world.cue('mid');
        await left.runtime.send(root.id, 'more');
        world.decidedWhen(() => requests(left) > 1);
        return async () =>
          assert.deepEqual(
            (await world.store.runs({ root_id: root.id })).map(({ status }) => status),
            ['completed', 'completed'],
          );
      },
      ground,
      { preemptions: 0, first: DEEP ? 12 : 4 },
    );
  });
});
