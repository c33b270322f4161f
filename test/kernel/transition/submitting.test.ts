/**
 * Proves how a sub-agent of fanout ends: by submitting, by an error, by a cancel, or without a result; that its parent is told of it
 * exactly once; and that no call of an answer with a submission and other calls runs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import type { Transition } from '../../../src/kernel/transition/transition.ts';
import type { Call, ChildOutcome } from '../../../src/records/agent/state.ts';
import { answerOf } from './arbitrary-kernel.ts';
import type { KernelRun } from './kernel-run.ts';
import { answer, CHILD, call, LIMIT, OWN, settle, started, startedBy, system } from './turn-fixture.ts';

const DONE: ChildOutcome = { type: 'success', result: 'two issues' };
const DEEP = { ...CHILD, turns: 50 };
const SUBMIT = call('s', { name: 'submit_result' });

function respond(
  run: KernelRun,
  calls: readonly Call[],
  more: Partial<Extract<AgentEvent, { type: 'response' }>>,
  said = '',
): Transition {
  const content = answerOf(said, calls);
  return run.apply({ type: 'response', at: 6, seq: 2, content, calls, submission: null, ...more });
}

function told(result: Transition): ChildOutcome[] {
  if (!result.ok) return [];
  return result.effects.flatMap((effect) => (effect.type === 'notify-parent' ? [effect.outcome] : []));
}

function results(run: KernelRun): (readonly [string, string, string])[] {
  return run.messages.flatMap((one) =>
    one.kind === 'result' ? [[one.content.call_id, one.content.status, one.content.output] as const] : [],
  );
}

describe('a sub-agent that submits', () => {
  it('ends with its result, which is reported to its parent in the same step; no call is run', () => {
    const run = started(CHILD);
    const end = respond(run, [SUBMIT], { submission: DONE });
    assert.deepEqual(run.state, { type: 'completed', result: 'two issues' });
    assert.deepEqual(told(end), [DONE]);
    assert.deepEqual(startedBy(end), []);
    assert.equal(respond(run, [SUBMIT], { submission: DONE }).ok, false, 'law 3: a second one');
  });

  it('submit_error ends it as sub_agent_error', () => {
    const run = started(CHILD);
    const outcome = { type: 'failure', error: 'impossible', error_kind: 'sub_agent_error' } as const;
    assert.deepEqual(told(respond(run, [SUBMIT], { submission: outcome })), [outcome]);
    assert.ok(run.state.type === 'failed' && run.state.failure.kind === 'sub_agent_error');
  });

  it('an error of its model ends it with that kind', () => {
    const run = started(CHILD);
    const failure = { kind: 'auth' as const, error: '401', retryable: true };
    const end = run.apply({ type: 'request-failed', at: 3, failure });
    assert.deepEqual(told(end), [{ type: 'failure', error: '401', error_kind: 'auth' }]);
  });

  it('a cancel ends it in any state, with the reason and its partial result', () => {
    const cancel: AgentEvent = { type: 'cancel', at: 3, by: 'main', reason: 'enough', open: [] };
    for (const reach of [
      (run: KernelRun) => run,
      (run: KernelRun) => void answer(run, 'Looking.', [call('a')]),
      (run: KernelRun) => {
        answer(run, 'Looking.', [call('a')]);
        run.apply(LIMIT);
      },
    ]) {
      const run = started(DEEP);
      reach(run);
      const [outcome, ...more] = told(run.apply(cancel));
      assert.deepEqual(more, []);
      assert.ok(outcome?.type === 'failure');
      assert.deepEqual([outcome.error, outcome.error_kind], ['enough', 'cancelled']);
      assert.equal(
        outcome.partial,
        run.messages.some((one) => one.kind === 'assistant') ? 'Looking.' : undefined,
      );
      assert.equal(run.apply(cancel).ok, false, 'a cancel after the end is ignored');
    }
  });

  it('may still submit in its last turn after the time limit, and its result names the limit', () => {
    const run = started(DEEP);
    answer(run, 'Working.', [call('a')]);
    run.apply(LIMIT);
    assert.match(system(run), /Call submit_result with what you have now; no other tool is run/);
    assert.deepEqual(told(respond(run, [SUBMIT], { submission: DONE })), [
      { ...DONE, limit: 'limit reached: run time of 60 s' },
    ]);
  });

  it('runs no other call in its last turn, and all its text is kept as partial, as timed_out', () => {
    const run = started(DEEP);
    answer(run, 'Working.', [call('a')]);
    run.apply(LIMIT);
    const end = respond(run, [call('b')], {}, 'Half of it is good.');
    const error = 'limit reached: run time of 60 s';
    assert.deepEqual(told(end), [
      { type: 'failure', error, error_kind: 'timed_out', partial: 'Working.\n\nHalf of it is good.' },
    ]);
    assert.deepEqual(results(run).at(-1), ['b', 'error', `No call was run: ${error}.`]);
  });

  it('is told that its answer is empty, not that it is text', () => {
    const run = started(DEEP);
    answer(run, ' \n');
    assert.match(system(run), /^Nothing is submitted yet: your answer is empty\. Call submit_result/);
  });

  it('is reminded once per turn, however much it does in between', () => {
    const run = started({ ...DEEP, checked: true });
    answer(run, 'Done, I think.');
    assert.match(system(run), /^Nothing is submitted yet/);
    answer(run, 'I look again.', [call('a')]);
    settle(run, 'a');
    const end = answer(run, '');
    assert.deepEqual(told(end), [
      {
        type: 'failure',
        error: 'stopped without a result: its last answer says nothing',
        error_kind: 'no_result',
        partial: 'Done, I think.\n\nI look again.',
      },
    ]);
  });
});

describe('a sub-agent that answers in text and never submits', () => {
  it('succeeds with its text at once, marked as not submitted, since it would only say it again or point to it', () => {
    const run = started(DEEP);
    const end = answer(run, 'Two issues: a, b.');
    const outcome = { result: 'Two issues: a, b.', unsubmitted: true } as const;
    assert.deepEqual(told(end), [{ ...outcome, type: 'success' }]);
    assert.deepEqual(run.state, { ...outcome, type: 'completed' });
  });

  it('succeeds with what it said in all parts, if it was asked for a call that it had announced', () => {
    const run = started(DEEP);
    answer(run, 'I looked at one.', [call('a')]);
    settle(run, 'a');
    respond(run, [], { announced: true }, 'I will look at b.');
    assert.match(system(run), /^You announced a call and made none.*call submit_result with your whole/);
    const result = 'I will look at b.\n\nTwo issues.';
    assert.deepEqual(told(answer(run, 'Two issues.')), [{ type: 'success', result, unsubmitted: true }]);
  });

  it('is asked to go on where its text was cut off', () => {
    const run = started(DEEP);
    const content = { ...answerOf('Two iss', []), finish: 'length' as const };
    run.apply({ type: 'response', at: 6, seq: 2, content, calls: [], submission: null });
    assert.match(system(run), /^Your answer was cut off/);
    assert.deepEqual(told(answer(run, 'ues.')), [
      { type: 'success', result: 'Two issues.', unsubmitted: true },
    ]);
  });

  it('fails where its result must be checked, with all its text as partial', () => {
    const run = started({ ...DEEP, checked: true });
    answer(run, 'Two issues.');
    assert.deepEqual(told(answer(run, 'Really two.')), [
      {
        type: 'failure',
        error: 'stopped twice without submitting a result',
        error_kind: 'no_result',
        partial: 'Two issues.\n\nReally two.',
      },
    ]);
  });

  it('is also marked with a turn limit', () => {
    const run = started(CHILD);
    answer(run, 'I look.', [call('a')]);
    settle(run, 'a');
    answer(run, 'I look on.', [call('b')]);
    settle(run, 'b');
    const limit = 'limit reached: 2 model requests in one turn';
    assert.deepEqual(told(answer(run, 'One so far.')), [
      { type: 'success', result: 'One so far.', limit, unsubmitted: true },
    ]);
  });
});

describe('a submission beside other calls', () => {
  const REFUSAL = 'each must be the only call';
  const beside = (run: KernelRun, more: Parameters<typeof respond>[2] = {}) =>
    respond(run, [call('r'), SUBMIT], { refusal: REFUSAL, ...more }, 'Both at once.');

  it('runs nothing, answers every call with the reason (law 5), and lets the sub-agent try again', () => {
    const run = started(DEEP);
    const refused = beside(run);
    assert.deepEqual(startedBy(refused), []);
    assert.deepEqual(results(run), [
      ['r', 'error', REFUSAL],
      ['s', 'error', REFUSAL],
    ]);
    assert.equal(run.state.type, 'requesting');
    assert.deepEqual(told(respond(run, [SUBMIT], { submission: DONE })), [DONE]);
  });

  it('ends it after three times in a row, with its text', () => {
    const run = started(DEEP);
    for (const _ of [1, 2]) assert.deepEqual(told(beside(run)), []);
    assert.deepEqual(told(beside(run)), [
      { type: 'failure', error: REFUSAL, error_kind: 'repeated_failure', partial: 'Both at once.' },
    ]);
    assert.deepEqual(run.open, []);
  });

  it('counts as a request', () => {
    const run = started({ ...CHILD, turns: 1 });
    beside(run);
    assert.match(system(run), /limit reached: 1 model request in/);
  });

  it('ends it in its last turn, as any other call would', () => {
    const run = started(DEEP);
    answer(run, '', [call('a')]);
    run.apply(LIMIT);
    const [outcome] = told(beside(run));
    assert.ok(outcome?.type === 'failure' && outcome.error_kind === 'timed_out');
    assert.equal(outcome.partial, 'Both at once.');
  });

  it('a reason without a call is ignored', () => {
    const run = started(OWN);
    respond(run, [], { refusal: REFUSAL }, 'Hello.');
    assert.deepEqual(run.state, { type: 'idle' });
  });
});

describe('what is appended to an outcome', () => {
  const appendix = '[worktree] branch b';

  it('follows a result', () => {
    const run = started(CHILD);
    const end = respond(run, [SUBMIT], { submission: DONE, appendix });
    assert.deepEqual(told(end), [{ type: 'success', result: `two issues\n\n${appendix}` }]);
    assert.deepEqual(run.state, { type: 'completed', result: `two issues\n\n${appendix}` });
  });

  it('follows the partial result of a failure, or stands alone', () => {
    for (const [said, partial] of [
      ['Half.', `Half.\n\n${appendix}`],
      ['', appendix],
    ] as const) {
      const run = started({ ...CHILD, checked: true });
      respond(run, [], {}, said);
      const [outcome] = told(respond(run, [], { appendix }));
      assert.ok(outcome?.type === 'failure' && outcome.error_kind === 'no_result');
      assert.equal(outcome.partial, partial);
    }
    const broken = started(CHILD);
    const failure = { kind: 'network' as const, error: 'gone', retryable: true };
    const [outcome] = told(broken.apply({ type: 'request-failed', at: 3, failure, appendix }));
    assert.ok(outcome?.type === 'failure' && outcome.partial === appendix);
  });

  it('is dropped while the agent continues', () => {
    const run = started(DEEP);
    respond(run, [call('a')], { appendix });
    assert.equal(run.state.type, 'executing');
    assert.equal(JSON.stringify([run.state, run.messages]).includes(appendix), false);
  });

  it('comes from the context for a stopped agent', () => {
    const run = started({ ...DEEP, leaves: 'see the folder' });
    answer(run, 'Working.', [call('a')]);
    const end = run.apply({ type: 'cancel', at: 3, by: 'you', reason: 'enough', open: [] });
    const [outcome] = told(end);
    assert.ok(outcome?.type === 'failure' && outcome.partial === 'Working.\n\nsee the folder');
  });
});
