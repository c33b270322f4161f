// Proves that failures of polls are forgotten once one has succeeded: the pause after the next one is as short as after the first.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TELEGRAM_TIMING } from '../../../src/channels/telegram/bot/telegram-timing.ts';
import { UpdatePoll, type UpdatePollTools } from '../../../src/channels/telegram/inbound/update-poll.ts';

it('after many failures and a success, the next failure is the first again', async (t) => {
  const stop = new AbortController();
  const kept = new Map<string, string | null>();
  const failure = { ok: false, failure: { type: 'network', error: 'no network' } };
  const empty = { ok: true, result: [] };
  // The jitter leaves no pause until it has succeeded, and then all of it: 60 failures in a row would pause for days.
  let jitter = 0;
  t.mock.method(Math, 'random', () => jitter);
  let polls = 0;
  const ask = async () => {
    polls += 1;
    if (polls === 61) jitter = 0.99;
    if (polls === 63) stop.abort();
    return polls === 61 || polls === 63 ? empty : failure;
  };
  const tools = {
    client: { ask },
    memory: { get: async (name: string) => kept.get(name) ?? null, set: async () => undefined },
    log: () => undefined,
    timing: { ...TELEGRAM_TIMING, back_off: { base_ms: 1, max_ms: 2 ** 31 - 1 } },
    signal: stop.signal,
  };
  await new UpdatePoll(tools as unknown as UpdatePollTools).run(1, async () => undefined);
  assert.equal(polls, 63);
});
