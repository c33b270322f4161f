// Proves what a script has asked for is answered once: of two timers each by itself, and one that is cleared twice, or after it has rung, no second time.
// Of what it says, no more is handed on than a message holds.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ScriptRecord } from '../../src/models/workflow/script-record.ts';
import { SAID_MAX } from '../../src/models/workflow/script-step.ts';

function recording(calls: number) {
  const record = new ScriptRecord(null);
  for (let number = 1; number <= calls; number += 1)
    record.take(
      JSON.stringify({ type: 'call', kind: 'sleep', number, prompt: 'x', options: { ms: 1 }, line: 1 }),
    );
  assert.equal(record.end, null, JSON.stringify(record.end));
  record.takeEvents();
  const cancel = (number: number) => {
    record.take(JSON.stringify({ type: 'cancel', number, line: 1 }));
    return record.takeEvents().length;
  };
  const accepts = (call: number) => record.accepts({ call, now: 1, type: 'value', value: null } as never);
  return { record, cancel, accepts };
}

it('a timer that is cleared twice is told of once, and its result is taken once', () => {
  const { record, cancel, accepts } = recording(2);
  assert.deepEqual([cancel(1), cancel(1), record.state], [1, 0, { type: 'waiting', pending: [2] }]);
  assert.deepEqual([accepts(1), accepts(2)], [true, true]);
  assert.equal(accepts(1), false);
  assert.equal(record.end?.type, 'failed');
});

it('a timer that has rung cannot be cleared', () => {
  const { record, cancel, accepts } = recording(1);
  assert.deepEqual([accepts(1), cancel(1), record.state], [true, 0, { type: 'stuck' }]);
  assert.equal(accepts(1), false);
});

it('of 19,000 lines between two results no more is handed on than one message holds', () => {
  const { record, accepts } = recording(1);
  const say = () => {
    for (let line = 0; line < 19_000; line += 1)
      record.take(JSON.stringify({ type: 'log', text: 'x'.repeat(1_000) }));
    return record.takeEvents().length;
  };
  const [before, is_taken, after] = [say(), accepts(1), say()];
  assert.ok(before * 1_000 >= SAID_MAX - 1_000 && before <= 1_000, `${before} lines`);
  assert.deepEqual([is_taken, after], [true, before]);
});
