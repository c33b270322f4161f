/**
 * Proves what a turn does beyond the laws: order of calls, limits with one last answer, the reminder to submit, and what a
 * successor does after a crash.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INTERRUPTED } from '../../../src/kernel/transition/resuming.ts';
import { answerOf } from './arbitrary-kernel.ts';
import type { KernelRun } from './kernel-run.ts';
import {
  answer,
  CHILD,
  call,
  DELEGATE,
  LIMIT,
  OVER,
  OWN,
  settle,
  started,
  startedBy,
  system,
} from './turn-fixture.ts';

describe('calls of a turn', () => {
  it('start in order: reads in parallel, a write alone', () => {
    const run = started(OWN);
    const read = { side_by_side: true };
    const calls = [call('r1', read), call('r2', read), call('w'), call('r3', read), call('r4', read)];
    assert.deepEqual(startedBy(answer(run, '', calls)), ['r1', 'r2']);
    assert.deepEqual(startedBy(settle(run, 'r2')), []);
    assert.deepEqual(startedBy(settle(run, 'r1')), ['w']);
    assert.deepEqual(startedBy(settle(run, 'w')), ['r3', 'r4']);
    assert.equal(settle(run, 'w').ok, false);
  });

  it('law 5: two calls with the same id run one after the other and get one result each', () => {
    const run = started(OWN);
    const same = [call('x', { side_by_side: true }), call('x', { side_by_side: true })];
    assert.equal(startedBy(answer(run, '', same)).length, 1);
    assert.equal(startedBy(settle(run, 'x')).length, 1);
    settle(run, 'x');
    assert.equal(run.state.type, 'requesting');
    assert.equal(run.messages.filter((one) => one.kind === 'result').length, 2);
  });

  it('law 5: a cancel answers all of them in order, including known partial results', () => {
    const run = started(OWN);
    answer(run, '', [call('a'), call('b'), call('c')]);
    const open = [{ call_id: 'a', name: 'wait', status: 'ok' as const, output: '{"interrupted":true}' }];
    run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open });
    const results = run.messages.flatMap((one) => (one.kind === 'result' ? [one.content] : []));
    assert.deepEqual(
      results.map((one) => [one.call_id, one.status, one.output]),
      [
        ['a', 'ok', '{"interrupted":true}'],
        ['b', 'cancelled', 'Cancelled: enough'],
        ['c', 'cancelled', 'Cancelled: enough'],
      ],
    );
    assert.equal(run.state.type, 'idle');
  });
});

describe('a call that is stopped', () => {
  const failure = { kind: 'internal', error: 'a fault', retryable: true } as const;
  const STOPS = [
    { type: 'limit', at: 3, limit: 'run time of 1 s', final: false },
    { type: 'limit', at: 3, limit: 'run time of 1 s', final: true },
    { type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] },
    { type: 'fault', at: 3, failure },
    { type: 'halt', at: 3 },
  ] as const;
  for (const event of STOPS)
    it(`has what it had printed in its result: ${JSON.stringify(event)}`, () => {
      const run = started({ ...OWN, printed: (id) => (id === 'a' ? 'half of it' : '') });
      answer(run, '', [call('a'), call('b')]);
      run.apply(event);
      const [a, b] = run.messages.flatMap((one) => (one.kind === 'result' ? [one.content.output] : []));
      assert.match(a ?? '', /^(Cancelled|Interrupted): [^\n]+\nIt had printed:\nhalf of it$/);
      assert.match(b ?? '', /^Cancelled: [^\n]+$/);
    });
});

describe('limits', () => {
  it('after its maximum of requests an agent gets one last answer, in which no call runs', () => {
    const run = started({ ...OWN, turns: 1 });
    answer(run, '', [call('a')]);
    settle(run, 'a');
    assert.match(system(run), /limit reached: 1 model request in one turn/);
    answer(run, 'so far', [call('b')]);
    assert.deepEqual(run.state, { type: 'idle', limit: 'limit reached: 1 model request in one turn' });
    assert.deepEqual(run.open, []);
  });

  it('a child that submits nothing in its last turn fails with its last text as partial', () => {
    const run = started({ ...DELEGATE, turns: 1 });
    answer(run, 'I found two.', [call('a')]);
    settle(run, 'a');
    answer(run, '', []);
    assert.deepEqual(run.state, {
      type: 'failed',
      failure: { kind: 'limit', error: 'limit reached: 1 model request in one turn', retryable: false },
      partial: 'I found two.',
    });
  });

  it('a child may submit in its last turn', () => {
    const run = started(CHILD);
    answer(run, '', [call('a')]);
    run.apply(LIMIT);
    assert.match(system(run), /submit_result/);
    answer(run, '', [call('s', { name: 'submit_result' })], { type: 'success', result: 'two' });
    assert.deepEqual(run.state, {
      type: 'completed',
      result: 'two',
      limit: 'limit reached: run time of 60 s',
    });
  });

  it('a time limit is `timed_out`, also during a call, and ends the turn', () => {
    const run = started(CHILD);
    answer(run, 'Working.', [call('a')]);
    const first = run.apply(LIMIT);
    assert.ok(first.ok && first.effects[0]?.type === 'abort');
    assert.equal(run.apply(LIMIT).ok, false, 'the last word is asked for once');
    run.apply({ ...OVER, said: { model: 'p/m', text: 'And then' } });
    assert.ok(run.state.type === 'failed' && run.state.failure.kind === 'timed_out');
    assert.equal(run.state.partial, 'Working.\n\nAnd then');
  });

  it('a request in flight is neither cancelled nor repeated: its answer counts', () => {
    const run = started(DELEGATE);
    const word = run.apply(LIMIT);
    assert.deepEqual(word.ok && word.effects, []);
    answer(run, 'Just in time.');
    assert.deepEqual(run.state, { type: 'completed', result: 'Just in time.' });
  });

  it('a late answer runs no call, and the last answer is requested', () => {
    const run = started({ ...CHILD, turns: 9 });
    run.apply(LIMIT);
    assert.deepEqual(startedBy(answer(run, 'I look.', [call('a')])), []);
    assert.match(system(run), /Finish now: limit reached: run time of 60 s. Call submit_result/);
    assert.deepEqual(run.open, []);
    run.apply(OVER);
    assert.ok(run.state.type === 'failed' && run.state.failure.kind === 'timed_out');
  });

  it('an agent that stops late without submitting is asked for its last answer, not reminded', () => {
    const run = started({ ...CHILD, turns: 9 });
    run.apply(LIMIT);
    answer(run, 'All done.');
    assert.match(system(run), /^Finish now/);
  });

  it('the end of the run time ends a turn in any state', () => {
    const reach: Record<string, (run: KernelRun) => void> = {
      requesting: () => undefined,
      executing: (run) => void answer(run, '', [call('a')]),
      awaiting: (run) => {
        answer(run, '', [call('a')]);
        const result = { call_id: 'a', name: 'bash', status: 'ok', output: '' } as const;
        const spawned = [{ agent_id: 'kid', task: 't' }];
        run.apply({ type: 'call-settled', at: 2, result, consequences: [], spawned });
      },
    };
    for (const [state, go] of Object.entries(reach)) {
      const run = started(DELEGATE);
      go(run);
      assert.equal(run.state.type, state);
      run.apply(OVER);
      assert.ok(run.state.type === 'failed' && run.state.failure.kind === 'timed_out', state);
    }
  });

  it('an agent whose last answer did not come in time hears that its tools are on again once a person lets it go on', () => {
    const run = started(OWN);
    answer(run, 'Working.', [call('a')]);
    run.apply(LIMIT);
    assert.match(system(run), /Tools are off/);
    run.apply(OVER);
    assert.equal(run.state.type, 'errored');
    assert.ok(run.apply({ type: 'retry', at: 9 }).ok);
    assert.match(system(run), /tools are on again/);
    answer(run, '', [call('b')]);
    assert.equal(run.state.type, 'executing');
  });

  it('a broken request leaves the last text as partial', () => {
    const run = started(DELEGATE);
    answer(run, 'I look.', [call('a')]);
    settle(run, 'a');
    const failure = { kind: 'network' as const, error: 'gone', retryable: true };
    run.apply({ type: 'request-failed', at: 3, failure, partial: '' });
    assert.ok(run.state.type === 'failed');
    assert.equal(run.state.partial, 'I look.');
    assert.equal(run.state.failure.retryable, true);
  });
});

describe('submitting', () => {
  it('the reminder counts as a request', () => {
    const run = started({ ...CHILD, turns: 1 });
    answer(run, '');
    answer(run, 'Really done.');
    const limit = 'limit reached: 1 model request in one turn';
    const result = 'Really done.';
    assert.deepEqual(run.state, { type: 'completed', result, limit, unsubmitted: true });
  });

  it('submit_error keeps the work done, and every call of the message is answered', () => {
    const run = started(CHILD);
    const submit = call('s', { name: 'submit_error' });
    const submission = {
      type: 'failure' as const,
      error: 'impossible',
      error_kind: 'sub_agent_error' as const,
      partial: 'half',
    };
    run.apply({
      type: 'response',
      at: 6,
      seq: 2,
      content: answerOf('', [submit]),
      calls: [submit],
      submission,
    });
    const failure = { kind: 'sub_agent_error', error: 'impossible', retryable: false };
    assert.deepEqual(run.state, { type: 'failed', failure, partial: 'half' });
    assert.deepEqual(run.open, []);
  });

  it('a submission of an agent that does not report is an ordinary call', () => {
    const run = started(OWN);
    answer(run, '', [call('s', { name: 'submit_result' })], { type: 'success', result: 'two' });
    assert.equal(run.state.type, 'executing');
  });
});

describe('a successor after a crash', () => {
  it('sends the request again', () => {
    const run = started(OWN);
    const again = run.apply({ type: 'resume', at: 2 });
    assert.deepEqual(again.ok && again.effects, [{ type: 'request-model', attempt: 2 }]);
  });

  it('keeps waiting, repeats idempotent calls, reports the rest as interrupted and continues with the queue', () => {
    const run = started(OWN);
    const beside = { side_by_side: true };
    const calls = [call('wait', beside), call('read', { ...beside, idempotent: true }), call('fork', beside)];
    answer(run, '', calls);
    run.apply({ type: 'call-parked', at: 2, call_id: 'wait', wait: { from: ['x'], deadline: 77 } });
    const again = run.apply({ type: 'resume', at: 3 });
    assert.ok(again.ok);
    const interrupted = { call_id: 'fork', name: 'bash', status: 'interrupted', output: INTERRUPTED };
    assert.deepEqual(again.effects, [
      { type: 'start-timer', call_id: 'wait', at: 77 },
      { type: 'run-call', call: calls[1] },
      { type: 'append', message: { kind: 'result', content: interrupted } },
    ]);
  });

  it('a write that was running is interrupted, and the next call starts', () => {
    const run = started(OWN);
    answer(run, '', [call('write'), call('next')]);
    assert.deepEqual(startedBy(run.apply({ type: 'resume', at: 3 })), ['next']);
  });
});
