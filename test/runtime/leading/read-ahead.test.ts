// Proves that items read ahead come in order, that no more reads than requested are in progress, and that each failure is returned with its own item.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readAhead } from '../../../src/runtime/leading/take-over.ts';

it('reads in order, a few ahead, each with its outcome', async () => {
  const delays = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(delays, fc.integer({ min: 0, max: 5 }), async (all, ahead) => {
      let [begun, ended, most] = [0, 0, 0];
      const read = async ({ ms, fails }: { ms: number; fails: boolean }) => {
        begun += 1;
        most = Math.max(most, begun - ended);
        await new Promise((resolve) => setTimeout(resolve, ms));
        ended += 1;
        if (fails) throw new Error(`after ${ms}`);
        return ms;
      };
      const seen: unknown[] = [];
      for await (const [one, result] of readAhead(all, read, ahead)) {
        seen.push(one);
        assert.equal(result.status, one.fails ? 'rejected' : 'fulfilled');
        if (result.status === 'fulfilled') assert.equal(result.value, one.ms);
      }
      assert.deepEqual(seen, all);
      assert.equal(begun, all.length);
      assert.ok(most <= ahead + 1);
      assert.equal(most > 1, ahead > 0 && all.length > 1);
    }),
    { numRuns: 60 },
  );
});
