// Proves what a second pause, a second try and a stop in the middle of parked calls do to an agent whose request or calls wait.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import type { Pause } from '../../../src/records/agent/failure.ts';
import { type AgentState, type Executing, newTurn } from '../../../src/records/agent/state.ts';
import { decide } from './kernel-run.ts';
import { call, OWN } from './turn-fixture.ts';

const failure = { kind: 'no_credit', error: 'used up', retryable: true } as const;
const PAUSE: Pause = {
  ...({ spent: 'quota', door: 'abc', text: "anthropic's quota" } as const),
  ...{ failure, opens_at: 90, tries: 0, at: 20 },
};
const requesting = (paused?: Pause): AgentState => ({
  ...{ type: 'requesting', attempt: 1, turn: newTurn(1) },
  ...(paused !== undefined && { paused }),
});

function moved(state: AgentState, event: AgentEvent) {
  const result = decide(state, event, OWN);
  assert.ok(result.ok);
  return result;
}

describe('a request that waits for its provider', () => {
  it('a second refusal moves the opening, not since when it waits', () => {
    const again: Pause = { ...PAUSE, opens_at: 200, tries: 1, at: 90 };
    const { state, effects } = moved(requesting(PAUSE), { type: 'paused', at: 90, pause: again });
    assert.ok(state.type === 'requesting');
    assert.deepEqual(state.paused, { ...again, at: 20, told_at: 90 });
    assert.deepEqual(effects, [{ type: 'await-provider', at: 200 }]);
  });

  it('who takes it over tries it from the moment at which it opens, not before', () => {
    const resumed = (at: number) => moved(requesting(PAUSE), { type: 'resume', at }).effects;
    assert.deepEqual(resumed(89), [{ type: 'await-provider', at: 90 }]);
    assert.deepEqual(resumed(90), [{ type: 'request-model', attempt: 1 }]);
  });

  it('another model is asked at once, whatever the gate of the old one says', () => {
    const { effects } = moved(requesting(PAUSE), { type: 'model', at: 30, model: 'p/other' });
    assert.deepEqual(effects.at(-1), { type: 'request-model', attempt: 1, insists: true });
  });

  it('one that a person paused stands as paused no longer once it may go on; one of a provider until it is taken', () => {
    const opened = (pause: Pause) => moved(requesting(pause), { type: 'reopen', at: 95 }).state;
    const [of_person, of_provider] = [opened({ ...PAUSE, spent: 'person', opens_at: null }), opened(PAUSE)];
    assert.ok(of_person.type === 'requesting' && of_provider.type === 'requesting');
    assert.deepEqual([of_person.paused, of_provider.paused], [undefined, PAUSE]);
  });
});

it('a workflow that is stopped ends the calls that run or wait their turn, and leaves those that are parked', () => {
  const parked = { call: call('parked'), wait: { from: null, deadline: 99 } };
  const state: Executing = {
    ...{ type: 'executing', seq: 2, results: [], spawned: [], early: [], turn: newTurn(1) },
    running: [parked, { call: call('one') }, { call: call('two') }],
    queued: [call('later')],
  };
  const { state: left, effects } = moved(state, { type: 'halt', at: 3 });
  assert.ok(left.type === 'executing');
  assert.deepEqual([left.running, left.queued], [[parked], []]);
  const ended = effects.flatMap((effect) =>
    effect.type === 'append' && effect.message.kind === 'result'
      ? [[effect.message.content.call_id, effect.message.content.status]]
      : [],
  );
  assert.deepEqual(ended, [
    ['one', 'interrupted'],
    ['two', 'interrupted'],
    ['later', 'cancelled'],
  ]);
});
