// Proves that no join misses what it waits for: in every order of rounds, commits, answers of models and acts of people, no agent is at work when no event is
// possible any more, and a wait shows the outcome of what it waited for. Time stands still, so a wait that only its timeout would
// end never ends.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Line, Stage } from '../stage.ts';
import { type Background, everyOrder, newGround, type Scenario } from './every-order.ts';
import {
  cast,
  fails,
  family,
  fork,
  type Part,
  type Parts,
  type Row,
  requests,
  shared,
  waited,
  waitFor,
  write,
} from './ordered-family.ts';

let ground: Background;
before(async () => {
  ground = await newGround();
});
after(() => ground.close());

function inEveryOrder(scenario: Scenario): Promise<number> {
  return everyOrder(scenario, ground);
}

describe('every order of a wait', () => {
  const ends: Readonly<Record<string, { readonly b: Parts[string]; readonly row: Row }>> = {
    'says its last word': { b: ['report'], row: { status: 'idle', last_reply: 'report' } },
    'writes, and rests': {
      b: [[write('main', 'letter')], 'report'],
      row: { status: 'received', message: 'letter' },
    },
    fails: { b: [fails], row: { status: 'idle', error: 'no answer' } },
  };
  for (const [title, { b, row }] of Object.entries(ends))
    it(`the child ${title}`, async () => {
      const orders = await inEveryOrder(async (world) => {
        const one = await family(world, { main: [[fork('b')], [waitFor('b')], 'done'], b });
        return async () => assert.deepEqual(await waited(one), [row]);
      });
      assert.ok(orders >= 7, `only ${orders} orders`);
    });

  for (const [title, breaks, error] of [
    ['rests', false, undefined],
    ['has failed', true, 'no answer'],
  ] as const)
    it(`a letter in the same message wakes a child that ${title}, whichever stands first`, async () => {
      for (const calls of [
        [write('b'), waitFor('b')],
        [waitFor('b'), write('b')],
      ])
        await inEveryOrder(async (world) => {
          const main = cast({ main: [[fork('b')], [waitFor('b')], calls, 'done'] });
          const on: Stage = await world.process('left', (scene) => {
            if (scene.name === 'main') return main(scene);
            if (requests(on, 'b') > 1) return 'new';
            return breaks ? fails(scene) : 'old';
          });
          const root = await on.start();
          for (const name of ['main', 'b', 'main']) await world.cue(name);
          assert.equal((await waited({ on, root }))[0]?.error, error);
          world.decidedWhen(() => requests(on) > 3);
          return async () =>
            assert.deepEqual(await waited({ on, root }), [{ status: 'idle', last_reply: 'new' }]);
        });
    });
});

describe('every order of a wait for an agent that another process leads', () => {
  it('it rests', async () => {
    await inEveryOrder(async (world) => {
      const parts = { main: [[write('mid')], [waitFor('mid')], 'done'], mid: ['report'] };
      const one = await shared(world, parts, 3);
      await world.cue('main');
      return async () => assert.deepEqual(await waited(one), [{ status: 'idle', last_reply: 'report' }]);
    });
  });

  for (const [title, before] of [
    ['has done nothing yet', []],
    ['rests', ['old']],
    ['has failed', [fails]],
  ] as const)
    it(`a letter in the same message wakes one that ${title}`, async () => {
      await inEveryOrder(async (world) => {
        const first = before.length === 0 ? [] : [[write('mid')], [waitFor('mid')]];
        const main = [...first, [waitFor('mid'), write('mid')], 'done'];
        const lines: (Line | Part)[] = [...before, 'new'];
        const mid: Part = (scene) => {
          const line = lines.shift() ?? 'too much';
          return typeof line === 'function' ? line(scene) : line;
        };
        const one = await shared(world, { main, mid: [mid] }, main.length);
        if (before.length > 0) for (const name of ['main', 'main', 'mid']) await world.cue(name);
        // The letter is already in the mailbox, and the second read by the waiting agent's process happens when it is chosen.
        world.hold('left', 'right asks');
        await world.cue('main');
        return async () => assert.deepEqual(await waited(one), [{ status: 'idle', last_reply: 'new' }]);
      });
    });
});
