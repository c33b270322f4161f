/**
 * Proves what the kernel does with a call that a person must allow: it parks until its one answer, the turn's clock is paused
 * meanwhile, and whatever stops the turn withdraws the ask.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect } from '../../../src/kernel/transition/effect.ts';
import { INTERRUPTED } from '../../../src/kernel/transition/resuming.ts';
import type { Transition } from '../../../src/kernel/transition/transition.ts';
import type { Call } from '../../../src/records/agent/state.ts';
import type { NewAsk } from '../../../src/records/conversation/ask.ts';
import { newAsk } from '../../store/ledger-fixture.ts';
import type { KernelRun } from './kernel-run.ts';
import { answer, call, DELEGATE, LIMIT, OWN, settle, started, startedBy } from './turn-fixture.ts';

const SIDE = { side_by_side: true };

function askOf(call_id: string, asked_at: number): NewAsk {
  return newAsk({
    id: `ask-${call_id}`,
    root_id: 'r',
    agent_id: 'a',
    agent_name: 'agent',
    call_id,
    input: '{"command":"rm x"}',
    asked_at,
  });
}

function asks(run: KernelRun, call_id: string, at = 3): Transition {
  return run.apply({ type: 'call-asked', at, ask: askOf(call_id, at) });
}

function says(
  run: KernelRun,
  call_id: string,
  verdict: 'allow' | 'deny',
  { at = 4, note = '' }: { at?: number; note?: string } = {},
): Transition {
  return run.apply({ type: 'ask-answered', at, ask_id: `ask-${call_id}`, verdict, note, by: 'you' });
}

function effects(result: Transition): readonly Effect[] {
  assert.ok(result.ok, JSON.stringify(result));
  return result.effects;
}

function voided(result: Transition): string[] {
  return effects(result).flatMap((effect) => (effect.type === 'void-asks' ? effect.ask_ids : []));
}

function results(run: KernelRun): string[][] {
  return run.messages.flatMap((one) =>
    one.kind === 'result' ? [[one.content.call_id, one.content.status]] : [],
  );
}

function turnStart(run: KernelRun): number {
  assert.ok('turn' in run.state);
  return run.state.turn.started_at;
}

function askingRun(...calls: readonly Call[]): KernelRun {
  const run = started(OWN);
  answer(run, '', calls);
  return run;
}

describe('a call that a person must allow', () => {
  it('parks with its question; once allowed, exactly this call runs, once', () => {
    const run = askingRun(call('a'), call('b'));
    const parked = effects(asks(run, 'a'));
    assert.deepEqual(
      parked.filter((effect) => effect.type !== 'append'),
      [{ type: 'enter-ask', ask: askOf('a', 3) }],
    );
    assert.deepEqual(startedBy(says(run, 'a', 'allow')), ['a']);
    assert.equal(says(run, 'a', 'allow').ok, false, 'a second answer');
    assert.equal(says(run, 'a', 'deny').ok, false, 'a second answer');
    assert.equal(asks(run, 'a').ok, false, 'it was asked about already');
    assert.deepEqual(startedBy(settle(run, 'a')), ['b']);
    assert.equal(says(run, 'a', 'allow').ok, false, 'its call is gone');
  });

  it('ignores an answer to another question, for a call that was never asked about, or for no call', () => {
    const run = askingRun(call('a', SIDE), call('b', SIDE));
    asks(run, 'a');
    for (const other of ['b', 'nobody']) assert.equal(says(run, other, 'allow').ok, false);
    asks(run, 'b');
    assert.deepEqual(startedBy(says(run, 'b', 'allow')), ['b']);
    assert.ok(run.state.type === 'executing');
    assert.deepEqual(
      run.state.running.map(({ call: { id }, approved }) => [id, approved === true]),
      [
        ['a', false],
        ['b', true],
      ],
    );
  });

  it('gets the reason of a denial as its result, and the next call follows', () => {
    const run = askingRun(call('a'), call('b'));
    asks(run, 'a');
    assert.deepEqual(startedBy(says(run, 'a', 'deny', { note: 'use the trash' })), ['b']);
    const [denied] = run.messages.flatMap((one) => (one.kind === 'result' ? [one.content] : []));
    assert.equal(denied?.status, 'denied');
    assert.match(denied?.output ?? '', /denied by the user\..*They say: use the trash/);
    settle(run, 'b');
    assert.equal(run.state.type, 'requesting');
    assert.deepEqual(results(run), [
      ['a', 'denied'],
      ['b', 'ok'],
    ]);
  });

  it('requests the model again after a denial without a reason as the last call', () => {
    const run = askingRun(call('a'));
    asks(run, 'a');
    says(run, 'a', 'deny');
    assert.equal(run.state.type, 'requesting');
    assert.doesNotMatch(JSON.stringify(run.messages), /They say/);
  });

  it('cannot be a waiting or an unknown call', () => {
    const run = askingRun(call('w'));
    assert.equal(asks(run, 'nobody').ok, false);
    run.apply({ type: 'call-parked', at: 2, call_id: 'w', wait: { from: null, deadline: 9 } });
    assert.equal(asks(run, 'w').ok, false);
  });
});

describe("the turn's clock", () => {
  it('excludes the time of the question, for both answers', () => {
    for (const verdict of ['allow', 'deny'] as const) {
      const run = askingRun(call('a'), call('b'));
      const start = turnStart(run);
      asks(run, 'a', 100);
      assert.equal(turnStart(run), start);
      says(run, 'a', verdict, { at: 5_100 });
      assert.equal(turnStart(run), start + 5_000);
    }
  });

  it('stands still only once for concurrent questions, and never runs backwards', () => {
    const run = askingRun(call('a', SIDE), call('b', SIDE), call('c', SIDE));
    const start = turnStart(run);
    asks(run, 'a', 100);
    asks(run, 'b', 300);
    says(run, 'a', 'allow', { at: 1_100 });
    assert.equal(turnStart(run), start + 1_000);
    says(run, 'b', 'allow', { at: 1_600 });
    assert.equal(turnStart(run), start + 1_500);
    asks(run, 'c', 2_000);
    says(run, 'c', 'allow', { at: 1_900 });
    assert.equal(turnStart(run), start + 1_500);
  });
});

describe('a stop withdraws the open questions of the turn, and only those', () => {
  const stops = {
    cancel: { type: 'cancel', at: 5, by: 'you', reason: 'enough', open: [] },
    limit: LIMIT,
  } as const;
  for (const [name, stop] of Object.entries(stops)) {
    it(name, () => {
      const run = askingRun(call('a', SIDE), call('b', SIDE), call('c', SIDE));
      asks(run, 'a');
      asks(run, 'b');
      says(run, 'b', 'allow');
      assert.deepEqual(voided(run.apply(stop)), ['ask-a']);
      assert.deepEqual(
        results(run),
        ['a', 'b', 'c'].map((id) => [id, 'cancelled']),
      );
      assert.equal(says(run, 'a', 'allow').ok, false);
    });
  }

  it('withdraws nothing when nothing was asked', () => {
    const run = askingRun(call('a'));
    assert.deepEqual(voided(run.apply(stops.cancel)), []);
  });

  it('a sub-agent with one task that is stopped while it asks ends', () => {
    const run = started(DELEGATE);
    answer(run, '', [call('a')]);
    asks(run, 'a');
    assert.deepEqual(voided(run.apply(stops.cancel)), ['ask-a']);
    assert.equal(run.state.type, 'failed');
  });
});

describe('a successor', () => {
  it('leaves an open question open', () => {
    const run = askingRun(call('a'), call('b'));
    asks(run, 'a');
    const before = run.state;
    assert.deepEqual(effects(run.apply({ type: 'resume', at: 5 })), []);
    assert.equal(run.state, before);
    assert.deepEqual(startedBy(says(run, 'a', 'allow')), ['a']);
  });

  it('reports an allowed call that was running as interrupted: it is not run again', () => {
    const run = askingRun(call('a'), call('b'));
    asks(run, 'a');
    says(run, 'a', 'allow');
    assert.deepEqual(startedBy(run.apply({ type: 'resume', at: 5 })), ['b']);
    const [interrupted] = run.messages.flatMap((one) => (one.kind === 'result' ? [one.content] : []));
    assert.deepEqual([interrupted?.status, interrupted?.output], ['interrupted', INTERRUPTED]);
  });

  it('repeats an allowed idempotent call without asking again', () => {
    const run = askingRun(call('a', { idempotent: true }));
    asks(run, 'a');
    says(run, 'a', 'allow');
    assert.deepEqual(startedBy(run.apply({ type: 'resume', at: 5 })), ['a']);
    assert.ok(run.state.type === 'executing' && run.state.running[0]?.approved === true);
  });
});

describe('a question of a call that runs', () => {
  const questions = (run: KernelRun, call_id: string, at: number) =>
    run.apply({ type: 'call-asked', at, ask: { ...askOf(call_id, at), subject_kind: 'question' } });

  it('leaves the call running, stops the clock, and its one answer reaches the tool', () => {
    const run = askingRun(call('a', SIDE), call('b', SIDE));
    const start = turnStart(run);
    questions(run, 'a', 100);
    asks(run, 'b', 300);
    const answered = effects(says(run, 'a', 'allow', { at: 1_100, note: '{}' }));
    assert.deepEqual(answered.at(-1), {
      ...{ type: 'answer-program', ask_id: 'ask-a', verdict: 'allow', note: '{}', by: 'you' },
    });
    assert.equal(turnStart(run), start + 1_000);
    assert.equal(says(run, 'a', 'allow').ok, false);
    says(run, 'b', 'allow', { at: 1_600 });
    assert.equal(turnStart(run), start + 1_500);
    assert.ok(run.state.type === 'executing' && run.state.running.length === 2);
  });

  it('is withdrawn with its call, by whoever asked it, and by a stop', () => {
    const ends = [
      { type: 'question-withdrawn', at: 5, ask_id: 'ask-a' },
      { type: 'cancel', at: 5, by: 'you', reason: 'enough', open: [] },
      LIMIT,
      { type: 'resume', at: 5 },
    ] as const;
    for (const end of ends) {
      const run = askingRun(call('a'), call('b'));
      questions(run, 'a', 4);
      assert.deepEqual(voided(run.apply(end)), ['ask-a'], end.type);
      assert.equal(says(run, 'a', 'allow').ok, false);
    }
  });

  it('is not admitted for a call that waits itself', () => {
    const run = askingRun(call('a'));
    asks(run, 'a');
    assert.equal(questions(run, 'a', 4).ok, false);
  });
});
