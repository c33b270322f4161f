/**
 * Proves on a fake clock, against 285 servers whose limits are hidden (what they limit, how, and what they say of it), that the gate comes near the best
 * possible time with few refusals: on those on which its numbers were set, and as well on those that were held out. Prints what it measures.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HELD_OUT, type Shape, TUNED } from './shapes.ts';
import { sweep, told } from './sweep.ts';

const sets: [string, readonly Shape[]][] = [
  ['on which the numbers were set', TUNED],
  ['that were held out', HELD_OUT],
];
for (const [which, shapes] of sets)
  it(`servers ${which}: near the best time, with few refusals, nothing given up, trees in turn`, async () => {
    const { all, bad, ratio, refused, summary } = await sweep(shapes, 1, (shape, runs) =>
      console.log(told(shape, runs)),
    );
    console.log(summary);
    assert.equal(all.filter(({ failed }) => failed > 0).length, 0, 'nothing is given up');
    assert.ok(ratio <= 1.13, summary);
    assert.ok(refused <= 0.025, summary);
    assert.ok(bad <= all.length / 3, summary);
    const unfair = all.filter(({ fair }) => fair < 0.9).length;
    assert.equal(unfair, 0, 'trees that had as much to do ended far apart');
  });
