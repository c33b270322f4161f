/** Proves what the kernel does with a wait ordered by a person: only an agent at rest accepts it, only people are told of it, and it can be stopped. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HUMAN_WAIT } from '../../../src/kernel/transition/human-wait.ts';
import { KernelRun } from './kernel-run.ts';
import { answer, CHILD, call, DELEGATE, OWN, started } from './turn-fixture.ts';

const WAIT = { type: 'human-wait', at: 2, wait: { from: ['kid'], deadline: 900 } } as const;

it('occupies a resting agent until it ends; then the agent rests again, and the model is told nothing', () => {
  const run = new KernelRun(OWN);
  const begun = run.apply(WAIT);
  assert.ok(begun.ok);
  assert.deepEqual(begun.effects, [{ type: 'start-timer', call_id: HUMAN_WAIT, at: 900 }]);
  assert.equal(run.apply({ type: 'input', at: 3, content: { origin: 'human', text: 'hi' } }).ok, false);
  assert.equal(run.apply(WAIT).ok, false, 'one at a time');
  const ended = run.apply({
    type: 'wait-ended',
    at: 4,
    output: '{"results":[]}',
    waited: { rows: [], cut: null },
  });
  assert.ok(ended.ok);
  assert.deepEqual(
    ended.effects.map((effect) => effect.type),
    ['append'],
  );
  assert.equal(run.state.type, 'idle');
  assert.deepEqual(
    run.messages.map((one) => one.kind),
    ['event'],
  );
});

it('leaves the failure of the last turn to be seen and retried, however it ends', () => {
  for (const end of [
    { type: 'wait-ended', at: 4, output: '{"results":[]}', waited: { rows: [], cut: null } },
    { type: 'cancel', at: 4, by: 'you', reason: 'enough', open: [] },
  ] as const) {
    const run = started(OWN);
    const failure = { kind: 'network', error: 'gone', retryable: true } as const;
    run.apply({ type: 'request-failed', at: 2, failure });
    run.apply(WAIT);
    assert.ok(run.apply(end).ok);
    const { state } = run;
    assert.deepEqual(state.type === 'errored' && state.failure, failure);
    assert.ok(run.apply({ type: 'retry', at: 5 }).ok);
  }
});

it('is resumed by a successor with the same deadline', () => {
  const run = new KernelRun(OWN);
  run.apply(WAIT);
  const resumed = run.apply({ type: 'resume', at: 5 });
  assert.ok(resumed.ok);
  assert.deepEqual(resumed.effects, [{ type: 'start-timer', call_id: HUMAN_WAIT, at: 900 }]);
  assert.equal(run.state.type, 'waiting');
});

it('returns what it has when interrupted', () => {
  const run = new KernelRun(OWN);
  run.apply(WAIT);
  const output = '{"results":[],"interrupted":true}';
  const open = [{ call_id: HUMAN_WAIT, name: 'wait', status: 'ok' as const, output }];
  run.apply({ type: 'cancel', at: 5, by: 'you', reason: 'enough', open });
  assert.equal(run.state.type, 'idle');
  assert.deepEqual(
    run.messages.map((one) => (one.kind === 'event' ? [one.content.event, one.content.text] : [])),
    [['waited', output]],
  );
});

it('a cancel ends a sub-agent that has not begun, and its conversation records it', () => {
  const run = new KernelRun(CHILD);
  run.apply({ type: 'cancel', at: 5, by: 'you', reason: 'enough', open: [] });
  assert.equal(run.state.type, 'failed');
  const told = run.messages.map((one) => (one.kind === 'event' ? one.content.text : one.kind));
  assert.equal(told[0], 'interrupted by you: enough');
});

it('is refused for a working agent and for a sub-agent with one task', () => {
  const run = started(OWN);
  assert.equal(run.apply(WAIT).ok, false);
  answer(run, '', [call('a')]);
  assert.equal(run.apply(WAIT).ok, false);
  for (const context of [DELEGATE, CHILD]) assert.equal(new KernelRun(context).apply(WAIT).ok, false);
});
