/**
 * Proves who is quarantined: an agent whose same call was running in three processes when they died, or with eight deaths in a row without progress;
 * and who is not: agents whose various calls were hit by deaths with an outside cause, or that made progress in between.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEATHS_IN_A_ROW_MAX, DEATHS_MAX } from '../../../src/kernel/transition/breakers.ts';
import { INTERRUPTED } from '../../../src/kernel/transition/resuming.ts';
import type { Call } from '../../../src/records/agent/state.ts';
import type { KernelRun } from './kernel-run.ts';
import { answer, call, OWN, settle, started, startedBy } from './turn-fixture.ts';

const AGAIN = { idempotent: true };

/** Deaths of processes while calls of the agent ran, counted as the ledger does; after each, another process takes over. */
class Deaths {
  readonly run: KernelRun = started({ ...OWN, turns: 1_000 });
  #count = 0;

  die(one: Call | null = null, forgiven = false): ReturnType<KernelRun['apply']> {
    if (one !== null) answer(this.run, '', [one]);
    this.#count += 1;
    return this.resume(forgiven);
  }

  /** A takeover with an unchanged count: the previous process died before it began anything, or released the agent in order. */
  resume(forgiven = false): ReturnType<KernelRun['apply']> {
    return this.run.apply({ type: 'resume', at: 3, deaths: this.#count, forgiven });
  }

  quarantine(): string | null {
    const { state } = this.run;
    return state.type === 'errored' && state.failure.kind === 'quarantined' ? state.failure.error : null;
  }
}

describe('quarantine', () => {
  it('ends the turn of an agent that repeats a call during which its process dies each time', () => {
    const deaths = new Deaths();
    for (let time = 1; time < DEATHS_MAX; time += 1) {
      deaths.die(call(`c${time}`));
      assert.equal(deaths.quarantine(), null);
    }
    deaths.die(call('last'));
    assert.equal(
      deaths.quarantine(),
      `quarantined: its process died ${DEATHS_MAX} times while running the same call`,
    );
    const results = deaths.run.messages.flatMap((one) => (one.kind === 'result' ? [one.content] : []));
    assert.deepEqual(results.at(-1), {
      call_id: 'last',
      name: 'bash',
      status: 'interrupted',
      output: INTERRUPTED,
    });
    deaths.run.apply({ type: 'retry', at: 9 });
    assert.equal(deaths.run.state.type, 'requesting', 'a person may retry it');
    answer(deaths.run, '', [call('retried')]);
    assert.equal(deaths.run.state.type, 'executing');
  });

  it('counts a death once, however often the same call ran at once', () => {
    const deaths = new Deaths();
    for (let time = 1; time <= DEATHS_MAX; time += 1) {
      assert.equal(deaths.quarantine(), null);
      const both = answer(deaths.run, '', [
        call(`one ${time}`, { side_by_side: true }),
        call(`two ${time}`, { side_by_side: true }),
      ]);
      assert.equal(startedBy(both).length, 2);
      deaths.die();
    }
    assert.ok(deaths.quarantine() !== null);
  });

  it('counts an automatically repeated call in the same way', () => {
    const deaths = new Deaths();
    assert.deepEqual(startedBy(deaths.die(call('read', AGAIN))), ['read']);
    for (let time = 2; time < DEATHS_MAX; time += 1)
      assert.deepEqual(startedBy(deaths.die()), ['read'], `death ${time}`);
    assert.deepEqual(startedBy(deaths.die()), []);
    assert.ok(deaths.quarantine() !== null);
  });

  it('ignores an agent whose calls differ each time and finish in between', () => {
    const deaths = new Deaths();
    for (let time = 0; time < 3 * DEATHS_IN_A_ROW_MAX; time += 1) {
      deaths.die(call(`c${time}`, { input: `{"number":${time}}` }));
      answer(deaths.run, '', [call(`d${time}`)]);
      settle(deaths.run, `d${time}`);
      assert.equal(deaths.quarantine(), null, `death ${time}`);
      deaths.run.apply({ type: 'input', at: 4, content: { origin: 'human', text: 'go on' } });
    }
  });

  it('starts again after a finished call', () => {
    const deaths = new Deaths();
    for (let time = 1; time < DEATHS_MAX; time += 1) deaths.die(call(`a${time}`));
    answer(deaths.run, '', [call('well')]);
    settle(deaths.run, 'well');
    for (let time = 1; time < DEATHS_MAX; time += 1) deaths.die(call(`b${time}`));
    assert.equal(deaths.quarantine(), null);
    deaths.die(call('c'));
    assert.ok(deaths.quarantine() !== null);
  });

  it('does not reset the count of a call when another one finishes', () => {
    const deaths = new Deaths();
    const other = { input: '{"other":true}' };
    for (let time = 1; time < DEATHS_MAX; time += 1) {
      deaths.die(call(`a${time}`));
      answer(deaths.run, '', [call(`o${time}`, other)]);
      settle(deaths.run, `o${time}`);
    }
    deaths.die(call('last'));
    assert.ok(deaths.quarantine() !== null);
  });

  it('ends a turn that kills its process with ever different calls and no progress in between', () => {
    const deaths = new Deaths();
    for (let time = 1; time < DEATHS_IN_A_ROW_MAX; time += 1) {
      deaths.die(call(`c${time}`, { input: `{"number":${time}}` }));
      assert.equal(deaths.quarantine(), null);
    }
    deaths.die(call('last', { input: '{"number":0}' }));
    assert.match(deaths.quarantine() ?? '', /^quarantined: its process died 8 times while running its calls/);
  });

  it('does not count a takeover if nothing had run since the last one', () => {
    const deaths = new Deaths();
    deaths.die(call('read', AGAIN));
    for (let time = 0; time < 2 * DEATHS_IN_A_ROW_MAX; time += 1)
      assert.deepEqual(startedBy(deaths.resume()), ['read']);
    assert.equal(deaths.quarantine(), null);
  });

  it('resets the count when a person continues the turn', () => {
    const deaths = new Deaths();
    for (let time = 1; time < DEATHS_MAX; time += 1) deaths.die(call(`a${time}`));
    for (let time = 0; time < DEATHS_IN_A_ROW_MAX; time += 1) {
      deaths.die(call(`b${time}`), true);
      assert.equal(deaths.quarantine(), null);
    }
    for (let time = 1; time < DEATHS_MAX; time += 1) deaths.die(call(`c${time}`));
    assert.equal(deaths.quarantine(), null);
    deaths.die(call('last'));
    assert.ok(deaths.quarantine() !== null);
  });

  it('does not count calls that are parked in the ledger', () => {
    const deaths = new Deaths();
    answer(deaths.run, '', [call('wait')]);
    deaths.run.apply({ type: 'call-parked', at: 2, call_id: 'wait', wait: { from: ['x'], deadline: 77 } });
    for (let time = 0; time < 2 * DEATHS_IN_A_ROW_MAX; time += 1) deaths.die();
    assert.equal(deaths.run.state.type, 'executing');
  });
});
