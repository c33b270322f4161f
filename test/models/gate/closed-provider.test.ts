// Proves what a door learns from the ledger and from answers, where several come at once, or late.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Door, doorsOf } from '../../../src/models/gate/closed-provider.ts';
import type { Told } from '../../../src/models/model.ts';
import type { Failure } from '../../../src/records/agent/failure.ts';

const FAILURE: Failure = { kind: 'rate_limit', error: 'used up', retryable: true };
const QUOTA = { spent: 'quota', of_model: false } as const;
const KEY = { spent: 'key', of_model: false, wait_ms: null } as const;
const HOUR_MS = 3_600_000;

function opened(): {
  door: Door;
  pass: (ms: number) => void;
  told: (age_ms: number, wait_ms: number) => Told;
} {
  let now = 1_000_000;
  const places = { provider: 'p', model: 'm', reached: 'here', probe: undefined };
  const [door] = doorsOf(places, new Map(), () => now);
  return {
    door,
    pass: (ms) => {
      now += ms;
    },
    told: (age_ms, wait_ms) => ({
      ...{ spent: 'quota', door: door.id, text: "p's quota", failure: FAILURE, tries: 0, age_ms, wait_ms },
    }),
  };
}

describe('a door', () => {
  it('believes the ledger where that is newer than the last answer here, and the newest of what it says', () => {
    const { door, pass, told } = opened();
    door.answered();
    pass(1_000);
    door.learn(told(2_000, HOUR_MS));
    assert.equal(door.bars(), null, 'it was answered afterwards');
    door.learn({ ...told(500, HOUR_MS), door: 'another key' });
    assert.equal(door.bars(), null);
    door.learn(told(500, HOUR_MS));
    assert.equal(door.bars()?.wait_ms, HOUR_MS);
    door.learn(told(600, 5));
    assert.equal(door.bars()?.wait_ms, HOUR_MS, 'older news');
    door.learn(told(100, 2 * HOUR_MS));
    assert.equal(door.bars()?.wait_ms, 2 * HOUR_MS);
  });

  it('learns nothing from the ledger while a request tries it', () => {
    const { door, pass, told } = opened();
    door.learn(told(100, 0));
    assert.equal(door.bars(), null);
    assert.equal(door.begin(), true);
    assert.notEqual(door.bars(), null, 'nobody else may try');
    pass(10);
    door.learn(told(0, HOUR_MS));
    assert.ok((door.bars()?.wait_ms ?? 0) <= 0);
    door.tried({ type: 'aborted' });
    assert.equal(door.bars(), null, 'the next one may');
  });

  it('keeps its time where requests that were under way are refused as well', () => {
    const { door, pass } = opened();
    door.close({ ...QUOTA, wait_ms: null }, FAILURE);
    pass(30_000);
    const late = door.close({ ...QUOTA, wait_ms: null }, FAILURE);
    assert.deepEqual([late.tries, late.wait_ms], [1, 30_000]);
  });

  it('is tried by one request at a time, too, where one that was under way before is refused meanwhile', () => {
    const { door, pass } = opened();
    door.close({ ...QUOTA, wait_ms: null }, FAILURE);
    pass(60_000);
    assert.equal(door.bars(), null);
    door.begin();
    assert.equal(door.close({ ...QUOTA, wait_ms: null }, FAILURE).tries, 1, 'it tells nothing new');
    assert.notEqual(door.bars({ begins: true, insists: true }), null, 'the try has no answer yet');
    const { tries, wait_ms } = door.close({ ...QUOTA, wait_ms: null }, FAILURE, true);
    assert.deepEqual([tries, wait_ms], [2, 120_000]);
    door.tried({ type: 'failure', failure: FAILURE });
    assert.equal(door.bars({ insists: true }), null);
  });

  it('doubts one refusal of a key that has worked since it was closed last, and no second one', () => {
    const { door, pass } = opened();
    assert.equal(door.close(KEY, FAILURE).wait_ms, 60_000, 'it has never worked');
    door.begin();
    door.tried({ type: 'failure', failure: { kind: 'bad_request', error: 'x', retryable: false } });
    door.answered();
    assert.equal(door.close(KEY, FAILURE).wait_ms, 2_000);
    assert.equal(door.close(KEY, FAILURE).wait_ms, 2_000, 'what was under way besides');
    pass(2_000);
    door.begin();
    assert.equal(door.stay(undefined)?.wait_ms, 2_000, 'the try reached nobody');
    pass(2_000);
    door.begin();
    assert.equal(door.close(KEY, FAILURE, true).wait_ms, 60_000);
  });

  it('is tried by what begins, where nobody named a time, two seconds after the last answer; by one at a time', () => {
    for (const closing of [KEY, { ...KEY, spent: 'model' } as const, { ...QUOTA, wait_ms: null }]) {
      const { door, pass } = opened();
      door.close(closing, FAILURE);
      pass(1_999);
      assert.notEqual(door.bars({ begins: true }), null, 'it has just been refused');
      pass(1);
      assert.notEqual(door.bars(), null, 'others wait');
      assert.equal(door.bars({ begins: true }), null);
      door.begin();
      assert.notEqual(door.bars({ begins: true, insists: true }), null);
    }
    const { door, pass } = opened();
    door.close({ ...QUOTA, wait_ms: HOUR_MS }, FAILURE);
    pass(HOUR_MS / 2);
    assert.notEqual(door.bars({ begins: true }), null, 'the provider has said when');
  });

  it('has longer pauses after tries at their time only, not after those of people', () => {
    const { door, pass } = opened();
    const tried = (): number => {
      door.begin();
      return (door.close(KEY, FAILURE, true).wait_ms ?? 0) / 60_000;
    };
    assert.equal(tried(), 1);
    for (let times = 1; times <= 5; times += 1) {
      pass(3_000);
      assert.equal(tried(), 1);
    }
    pass(60_000);
    assert.equal(tried(), 2);
    pass(3_000);
    assert.equal(tried(), 2);
  });

  it('is tried at once by a process that has just started, unless a time was named', () => {
    const { door, told } = opened();
    door.learn(told(100, HOUR_MS));
    assert.equal(door.bars()?.wait_ms, HOUR_MS);
    const started = opened();
    started.door.learn({ ...started.told(100, HOUR_MS), spent: 'key', tries: 3 });
    assert.equal(started.door.bars(), null);
    started.door.close(KEY, FAILURE);
    started.pass(5);
    started.door.learn({ ...started.told(0, HOUR_MS), spent: 'key', tries: 4 });
    assert.equal(started.door.bars()?.wait_ms, HOUR_MS, 'it has asked itself');
  });
});
