/** Proves that a turn ends when the same call fails in the same way in three requests in a row, and only then. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_IDENTICAL_FAILURES } from '../../../src/kernel/transition/breakers.ts';
import type { KernelRun } from './kernel-run.ts';
import { answer, call, OWN, settle, started } from './turn-fixture.ts';

describe('repeated failures', () => {
  function fail(run: KernelRun, request: number, beside: readonly string[]): void {
    const bad = call(`bad-${request}`, { side_by_side: true });
    const others = beside.map((input, place) =>
      call(`other-${request}-${place}`, { side_by_side: true, input }),
    );
    answer(run, '', [...others, bad]);
    for (const one of others) settle(run, one.id, one.input === 'ok' ? 'ok' : 'error', 'another error');
    settle(run, bad.id, 'error', 'no such file');
  }

  for (const beside of [[], ['ok'], ['one', 'two']]) {
    it(`three requests in a row end the turn, beside calls [${beside}]`, () => {
      const run = started(OWN);
      for (let request = 1; request < MAX_IDENTICAL_FAILURES; request += 1)
        fail(
          run,
          request,
          beside.map((one) => (one === 'ok' ? one : `${one} ${request}`)),
        );
      assert.equal<string>(run.state.type, 'requesting');
      fail(run, MAX_IDENTICAL_FAILURES, beside);
      assert.ok(run.state.type === 'errored' && run.state.failure.kind === 'repeated_failure');
      assert.match(run.state.failure.error, /bash failed 3 times in the same way: no such file/);
    });
  }

  it('counts requests, not calls: three in one message count once', () => {
    const run = started(OWN);
    answer(run, '', [call('a'), call('b'), call('c')]);
    for (const id of ['a', 'b', 'c']) settle(run, id, 'error', 'no such file');
    assert.equal(run.state.type, 'requesting');
  });

  it('a request without the failure, or with another error, resets the count', () => {
    const run = started(OWN);
    for (const [place, output] of ['e', 'e', 'other', 'e', 'e'].entries()) {
      answer(run, '', [call(`c${place}`)]);
      settle(run, `c${place}`, 'error', output);
    }
    assert.equal(run.state.type, 'requesting');
  });

  it('a tool that does not exist fails in the same way, whatever it is given; one that does, does not', () => {
    const outcomes = ['there is no tool "bash". Tools: read.', 'bash: failed'].map((output) => {
      const run = started(OWN);
      for (const input of ['one', 'two', 'three']) {
        answer(run, '', [call(input, { input })]);
        settle(run, input, 'error', output);
      }
      return run.state.type;
    });
    assert.deepEqual(outcomes, ['errored', 'requesting']);
  });

  it('repeated denials count as failures', () => {
    const run = started(OWN);
    for (const id of ['a', 'b', 'c']) {
      answer(run, '', [call(id)]);
      settle(run, id, 'denied', 'not allowed');
    }
    assert.equal(run.state.type, 'errored');
  });

  it('answers open calls and stops running ones; a person can retry', () => {
    const run = started(OWN);
    for (const id of ['a', 'b']) {
      answer(run, '', [call(id)]);
      settle(run, id, 'error', 'no');
    }
    answer(run, '', [
      call('c', { side_by_side: true }),
      call('d', { side_by_side: true, input: '1' }),
      call('e'),
    ]);
    settle(run, 'c', 'error', 'no');
    assert.deepEqual(run.open, []);
    assert.ok(run.apply({ type: 'retry', at: 9 }).ok);
    assert.equal(run.state.type, 'requesting');
  });
});
