// Proves the law of replay on generated scripts: fed the recorded results in their order, in one piece or cut anywhere, a script asks for the same calls and has the
// same result, whichever calls failed and in whatever order their results came.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { ScriptEvent } from '../../src/models/workflow/script-step.ts';
import { DEEP } from '../house/deep.ts';
import { arbitraryBody } from './arbitrary-script.ts';
import { play, setupOf, withRun } from './played-script.ts';

const callsIn = (events: readonly ScriptEvent[]) => events.filter(({ type }) => type === 'call');

it('a replay, cut anywhere, is the run', { timeout: 600_000 }, async () => {
  const decisions = fc.array(fc.nat(99), { minLength: 40, maxLength: 40 });
  const property = fc.asyncProperty(arbitraryBody, decisions, fc.nat(99), async (body, numbers, where) => {
    const setup = setupOf(body);
    let at = 0;
    const next = () => numbers[at++ % numbers.length] ?? 0;
    const undisturbed = await play(
      setup,
      ({ number }) => {
        const roll = next();
        if (roll < 20) return { type: 'failed', reason: `failure of ${number}` };
        return roll < 30
          ? { type: 'skipped', reason: 'skipped' }
          : { type: 'value', value: roll < 60 ? { number } : `text ${number}` };
      },
      (pending) => pending[next() % pending.length] ?? 0,
    );
    assert.notEqual(undisturbed.last.type, 'failed', JSON.stringify(undisturbed.last));
    const { calls, entries } = undisturbed;
    const cut = where % (entries.length + 1);
    await withRun(setup, async (run) => {
      const asked = undisturbed.calls.filter((call) => (call as unknown as { after: number }).after <= cut);
      const first = await run.feed(entries.slice(0, cut), asked);
      const events = [...first.events];
      let { state } = first;
      for (const entry of entries.slice(cut)) {
        const step = await run.feed([entry]);
        events.push(...step.events);
        state = step.state;
      }
      assert.deepEqual(state, undisturbed.last);
      assert.deepEqual(events, undisturbed.events);
      assert.deepEqual(callsIn(events), calls);
    });
  });
  await fc.assert(property, { numRuns: DEEP ? 400 : 15, endOnFailure: !DEEP });
});
