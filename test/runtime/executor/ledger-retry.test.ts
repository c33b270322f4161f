// Proves that queries to an unreachable ledger are retried with increasing back-off, and that people are told when it becomes unreachable and reachable again.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { retryUntilReachable } from '../../../src/runtime/executor/ledger-retry.ts';
import { SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import type { RuntimeEvent } from '../../../src/runtime/runtime-event.ts';

/** Queries a ledger whose first `failures` attempts fail; retrying is stopped after `over` attempts. */
async function asked(failures: number, over = Number.POSITIVE_INFINITY) {
  const [pauses, events]: [number[], RuntimeEvent[]] = [[], []];
  let tries = 0;
  const clock = {
    ...SYSTEM_RUNTIME_CLOCK,
    after(ms: number, then: () => void) {
      pauses.push(ms);
      setImmediate(then);
      return () => undefined;
    },
  };
  const result = await retryUntilReachable(
    { clock, emit: (event) => events.push(event) },
    async () => {
      tries += 1;
      if (tries <= failures) throw new Error('no connection');
      return 'answer';
    },
    () => tries >= over,
  );
  return { result, pauses, told: events.map((one) => one.type === 'ledger' && [one.reachable, one.text]) };
}

it('logs nothing when the answer comes at once', async () => {
  assert.deepEqual(await asked(0), { result: { answer: 'answer' }, pauses: [], told: [] });
});

it('reports each failed try and the recovery; the pauses grow up to five seconds', async () => {
  const { result, pauses, told } = await asked(7);
  assert.deepEqual(result, { answer: 'answer' });
  assert.deepEqual(pauses, [100, 300, 1000, 3000, 5000, 5000, 5000]);
  const away = [false, 'no connection; work is paused and resumes automatically; nothing is lost'];
  assert.deepEqual(told, [
    ...Array.from({ length: 7 }, () => away),
    [true, 'the ledger can be reached again'],
  ]);
});

it('gives up when nobody is waiting for the answer any longer', async () => {
  const { result, pauses } = await asked(9, 2);
  assert.deepEqual([result, pauses.length], [null, 2]);
  assert.equal((await asked(0, 0)).result, null);
});
