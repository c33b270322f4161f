// Proves how an answer is treated that its model did not complete: refused, cut off by the output limit, or empty; none of them counts as success.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call } from '../../src/records/agent/state.ts';
import type { AssistantContent } from '../../src/records/conversation/message.ts';
import { answerOf } from '../kernel/transition/arbitrary-kernel.ts';
import type { KernelRun } from '../kernel/transition/kernel-run.ts';
import {
  answer,
  CHILD,
  call,
  DELEGATE,
  OWN,
  settle,
  started,
  system,
} from '../kernel/transition/turn-fixture.ts';

type Ending = Pick<AssistantContent, 'finish' | 'reason'>;

function ends(run: KernelRun, text: string, ending: Ending, calls: readonly Call[] = []): void {
  const content = { ...answerOf(text, calls), ...ending };
  const result = run.apply({ type: 'response', at: 1, seq: 2, content, calls, submission: null });
  assert.ok(result.ok);
}

const CUT: Ending = { finish: 'length' };

/** Kind and message of the agent's failure; null if it has not failed. */
function failureOf({ state }: KernelRun): [string, string] | null {
  return state.type === 'errored' || state.type === 'failed'
    ? [state.failure.kind, state.failure.error]
    : null;
}

describe('a refused answer', () => {
  it('is a failure in the words of whoever refused', () => {
    for (const [reason, words] of [
      ['refusal', 'the model declined to answer'],
      [undefined, 'the model declined to answer'],
      ['PROHIBITED_CONTENT', 'a content filter of the provider blocked the answer (PROHIBITED_CONTENT)'],
    ] as const) {
      const run = started(OWN);
      ends(run, '', { finish: 'refused', ...(reason === undefined ? {} : { reason }) });
      assert.deepEqual(failureOf(run), ['refused', words]);
    }
  });

  it('runs no call, answers each, and its text reaches no other model', () => {
    const run = started(DELEGATE);
    ends(run, 'I would start with', { finish: 'refused' }, [call('a'), call('b')]);
    assert.deepEqual(failureOf(run), ['refused', 'the model declined to answer']);
    assert.deepEqual(run.open, []);
    assert.equal(run.state.type === 'failed' && run.state.partial, undefined);
  });

  it('fails a child that must submit without reminding it', () => {
    const run = started(CHILD);
    ends(run, 'no', { finish: 'refused' });
    assert.deepEqual(failureOf(run)?.[0], 'refused');
  });
});

describe('an answer cut at the output limit', () => {
  it('is continued once, and the continuation joins it', () => {
    const run = started(DELEGATE);
    ends(run, 'one, tw', CUT);
    assert.match(system(run), /cut off at the output limit. Continue exactly where it stopped/);
    answer(run, 'o, three');
    assert.deepEqual(run.state, { type: 'completed', result: 'one, two, three' });
  });

  it('is a failure with all of its text when the continuation is cut, too; a retry goes on from there', () => {
    const child = started(DELEGATE);
    ends(child, 'one, ', CUT);
    ends(child, 'two, ', CUT);
    assert.equal(failureOf(child)?.[0], 'cut');
    assert.equal(child.state.type === 'failed' && child.state.partial, 'one, two, ');
    const run = started(OWN);
    ends(run, 'one, ', CUT);
    ends(run, 'two, ', CUT);
    assert.equal(run.state.type, 'errored');
    run.apply({ type: 'retry', at: 9, said: 'one, two, ', half: true });
    assert.match(system(run), /Continue exactly where it stopped/);
    ends(run, 'three, ', CUT);
    assert.equal(failureOf(run)?.[0], 'cut', 'a person says whether it goes on still longer');
  });

  it('with calls runs them: they are whole', () => {
    const run = started(OWN);
    ends(run, 'and then', CUT, [call('a')]);
    assert.equal(run.state.type, 'executing');
    settle(run, 'a');
    answer(run, 'done');
    assert.equal(run.state.type, 'idle');
  });

  it('is continued anew after calls, and its text before them is no part of what comes later', () => {
    const run = started({ ...DELEGATE, turns: 10 });
    ends(run, 'first ', CUT);
    answer(run, 'look', [call('a')]);
    settle(run, 'a');
    ends(run, 'sec', CUT);
    answer(run, 'ond');
    assert.deepEqual(run.state, { type: 'completed', result: 'second' });
  });

  it('before its first word is told to be short, then fails', () => {
    const run = started(OWN);
    ends(run, '', CUT);
    assert.match(system(run), /Think less, and answer now/);
    ends(run, '', CUT);
    assert.deepEqual(failureOf(run)?.[0], 'cut');
    run.apply({ type: 'retry', at: 9 });
    assert.match(system(run), /Think less, and answer now/);
  });

  it('in the last turn that a limit leaves says where it was cut', () => {
    const run = started({ ...DELEGATE, turns: 1 });
    answer(run, '', [call('a')]);
    settle(run, 'a');
    ends(run, 'so far', CUT);
    const { state } = run;
    const said = state.type === 'completed' ? state.result : state.type === 'failed' ? state.partial : '';
    assert.match(said ?? '', /^so far\n\n\[The answer was cut off here/);
  });
});

describe('an empty answer', () => {
  it('is asked about once, then it is a failure; never an empty success', () => {
    for (const context of [OWN, DELEGATE]) {
      const run = started(context);
      answer(run, ' \n');
      assert.match(system(run), /Your answer was empty/);
      answer(run, '');
      assert.deepEqual(failureOf(run), ['empty', 'the model answered with nothing, twice']);
    }
  });

  it('that is mended is no failure', () => {
    const run = started(DELEGATE);
    answer(run, '');
    answer(run, 'three files');
    assert.deepEqual(run.state, { type: 'completed', result: 'three files' });
  });
});
