// What wait-orders.test.ts proves of one child, for three at once, which have ten times as many orders.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Background, everyOrder, newGround } from './every-order.ts';
import { family, fork, waited, waitFor } from './ordered-family.ts';

let ground: Background;
before(async () => {
  ground = await newGround();
});
after(() => ground.close());

describe('every order of a wait', () => {
  it('three children, each with a last letter', async () => {
    await everyOrder(async (world) => {
      const forks = ['a', 'b', 'c'].map(fork);
      const one = await family(world, {
        main: [forks, [waitFor('a', 'b', 'c')], 'done'],
        a: ['report'],
        b: ['report'],
        c: ['report'],
      });
      world.alike('a', 'b', 'c');
      const row = { status: 'idle', last_reply: 'report' };
      return async () => assert.deepEqual(await waited(one), [row, row, row]);
    }, ground);
  });
});
