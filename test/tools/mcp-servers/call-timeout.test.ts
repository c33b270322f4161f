// Proves that the time of a call of an MCP tool stands still while anybody is asked, begins anew afterwards and with each sign of progress, and ends with the call.
import assert from 'node:assert/strict';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import type { QuestionAnswer } from '../../../src/records/question/question.ts';
import { CallTimeout } from '../../../src/tools/mcp-servers/asking/call-timeout.ts';
import { elicit } from '../../../src/tools/mcp-servers/asking/elicitation.ts';

const LIMIT_MS = 1_000;
let passes: (ms: number) => void;

describe('the time of a call', () => {
  beforeEach((test) => {
    const { timers } = (test as TestContext).mock;
    timers.enable({ apis: ['setTimeout'] });
    passes = (ms) => timers.tick(ms);
  });

  function begun() {
    const caller = new AbortController();
    const timeout = new CallTimeout(LIMIT_MS, caller.signal);
    return { caller, timeout, isOut: () => timeout.signal.aborted };
  }

  /** A question, and its answer. */
  function question(timeout: CallTimeout): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = timeout.whileAsking(() => promise);
    return () => {
      resolve();
      return asked;
    };
  }

  it('each sign of progress restarts the clock', () => {
    const { timeout, isOut } = begun();
    for (let sign = 0; sign < 3; sign += 1) {
      passes(LIMIT_MS - 1);
      timeout.progressed();
    }
    passes(LIMIT_MS - 1);
    assert.equal(isOut(), false);
    passes(1);
    assert.equal(isOut(), true);
  });

  it('of two questions at once the last answer starts the clock again, each time anew', async () => {
    const { timeout, isOut } = begun();
    for (let round = 0; round < 2; round += 1) {
      const answers = [question(timeout), question(timeout)];
      for (const answer of answers) {
        passes(10 * LIMIT_MS);
        timeout.progressed();
        passes(10 * LIMIT_MS);
        assert.equal(isOut(), false, 'a person is asked');
        await answer();
      }
      passes(LIMIT_MS - 1);
      assert.equal(isOut(), false);
    }
    passes(1);
    assert.equal(isOut(), true);
  });

  it('a question that fails counts as answered', async () => {
    const { timeout, isOut } = begun();
    await assert.rejects(
      timeout.whileAsking(() => Promise.reject(new Error('gone'))),
      /gone/,
    );
    passes(LIMIT_MS);
    assert.equal(isOut(), true);
  });

  it('after the end nothing runs out, whatever comes late', async () => {
    const { timeout, isOut } = begun();
    const answer = question(timeout);
    timeout.end();
    timeout.progressed();
    await answer();
    timeout.progressed();
    passes(10 * LIMIT_MS);
    assert.equal(isOut(), false);
  });

  it('an abort of the caller while a person is asked is one at once, and the answer then starts no clock', async () => {
    const { caller, timeout, isOut } = begun();
    const answer = question(timeout);
    caller.abort(new Error('mine'));
    assert.equal(isOut(), true);
    await answer();
    passes(10 * LIMIT_MS);
    assert.equal((timeout.signal.reason as Error).message, 'mine');
  });
});

it('a question ends with its call as well as with its server, also the second one of a call', async () => {
  const caller = new AbortController();
  const patience = new CallTimeout(LIMIT_MS, caller.signal);
  const seen: AbortSignal[] = [];
  const ask = (_: unknown, signal: AbortSignal) => {
    seen.push(signal);
    return new Promise<QuestionAnswer>((resolve) => {
      signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
    });
  };
  const params = { message: 'which?', requestedSchema: { type: 'object', properties: {} } };
  const server = new AbortController();
  const about = { about: 'a: t__x', input: '{}', patience, ask };
  const first = elicit('t', params, about, [], server.signal);
  server.abort();
  assert.deepEqual(await first, { action: 'cancel' });
  const second = elicit('t', params, about, [], new AbortController().signal);
  caller.abort();
  assert.deepEqual(
    seen.map(({ aborted }) => aborted),
    [true, true],
  );
  assert.deepEqual(await second, { action: 'cancel' });
  patience.end();
});
