// Proves, on both databases, that forks created together wait until the first one's answer begins if a cache makes that cheaper, and that nothing else
// waits for it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Model, ModelDelta, ModelOutcome } from '../../../src/models/model.ts';
import { PrefixCacheGate } from '../../../src/runtime/performing/prefix-cache-gate.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { type Play, type Stage, type StageOptions, setStage } from '../stage.ts';

interface Asked {
  readonly name: string;
  readonly delta: (delta: ModelDelta) => void;
  readonly end: (outcome: ModelOutcome) => void;
}

const TEXT: ModelDelta = { type: 'text', text: 'a' };

/** A model whose answers the test begins and ends. */
function held(id: string, caches_prefixes: boolean): { readonly model: Model; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const model: Model = {
    id,
    context_window: null,
    tells_cost: false,
    caches_prefixes,
    stream: ({ agent, signal }, delta) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ type: 'aborted' }));
        if (signal.aborted) resolve({ type: 'aborted' });
        else asked.push({ name: agent.name, delta, end: resolve });
      }),
  };
  return { model, asked };
}

const DONE: ModelOutcome = {
  type: 'answer',
  content: { model: 'cached/model', parts: [{ type: 'text', text: 'done' }] },
  usage: { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null },
  finish: 'stop',
};
const DEEP = `begin ${'x'.repeat(5_000)}`;
const fork = (name: string, model?: string) => ['fork', { name, prompt: `be ${name}`, model }] as const;

function forking(model: string | undefined, ...names: string[]): Play {
  return ({ name, step }) => (name === 'main' && step === 0 ? names.map((one) => fork(one, model)) : 'done');
}

onBothDatabases('siblings', (database) => {
  async function stage(play: Play, model: Model, more: StageOptions = {}): Promise<Stage> {
    return setStage(play, { models: { [model.id]: model }, database: await database(), ...more });
  }
  const waiting = (on: Stage) =>
    on.events.filter((one) => one.type === 'delta' && one.delta.type === 'waiting').length;

  it('the others ask when the answer of the first begins, not when it ends; a later request waits for nobody', async () => {
    const { model, asked } = held('cached/model', true);
    const on = await stage(forking('cached/model', 'a', 'b', 'c'), model);
    const root = await on.start(DEEP);
    await until(() => asked.length === 1 && waiting(on) === 2, 'two wait for one');
    asked[0]?.delta({ type: 'waiting', reason: 'queue', delay_ms: 1 });
    asked[0]?.delta(TEXT);
    await until(() => asked.length === 3, 'all ask');
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    for (const { end } of asked.splice(0)) end(DONE);
    await on.runtime.settled(root.id);
    for (const name of ['a', 'b']) await on.runtime.send((await on.agent(name)).id, 'more');
    await until(() => asked.length === 2, 'both are asked again');
    // Two events from the waiting forks, and the one that the test sent with the reason `queue`.
    assert.equal(waiting(on), 3);
  });

  it('when the first one fails, or says nothing for 5 s, they ask', async () => {
    for (const release of ['fail', 'time'] as const) {
      const { model, asked } = held('cached/model', true);
      const clock = new HandClock();
      const on = await stage(forking('cached/model', 'a', 'b'), model, { clock });
      await on.start(DEEP);
      await until(() => asked.length === 1 && waiting(on) === 1, 'one waits');
      if (release === 'time') {
        clock.pass(4_000);
        assert.equal(asked.length, 1);
        clock.pass(1_500);
      } else asked[0]?.end({ type: 'failure', failure: { kind: 'auth', error: 'no', retryable: false } });
      await until(() => asked.length === 2, `the other asks: ${release}`);
      await on.close();
    }
  });

  it('one that waits is interrupted and killed at once, and the kill of the first lets the others go', async () => {
    const { model, asked } = held('cached/model', true);
    const on = await stage(forking('cached/model', 'a', 'b', 'c', 'd'), model, { clock: new HandClock() });
    await on.start(DEEP);
    await until(() => asked.length === 1 && waiting(on) === 3, 'three wait');
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map(on.agent));
    assert.ok(a && b && c);
    await on.runtime.interrupt(b.id, 'stop');
    await until(async () => (await on.agent('b')).state.type === 'idle', 'it rests');
    assert.deepEqual(await on.runtime.kill(c.id), [c.id]);
    assert.equal(asked.length, 1);
    await on.runtime.kill(a.id);
    await until(() => asked.length === 2, 'the last one asks');
    assert.equal(asked[1]?.name, 'd');
  });

  /** A gate with a clock that stands still unless the test moves it. */
  function gateAt(clock: { now: () => number }) {
    const gate = new PrefixCacheGate();
    const agent = {
      forked_from: { agent_id: 'p', seq: 1 },
      config: { model: 'm' },
      usage: { input: 0, output: 0 },
    };
    const prompt = { shared: 1, messages: () => [{ role: 'user', text: 'x'.repeat(10_000) }] };
    const context = {
      executor: { agent_index: { agent: () => undefined } },
      clock: { ...clock, after: () => () => undefined },
    };
    return (signal = new AbortController().signal, onDelta: (delta: ModelDelta) => void = () => undefined) =>
      gate.enter({ agent, prompt } as never, context as never, signal, onDelta);
  }

  it('forks that begin when the cache no longer has the prefix wait for one another again', async () => {
    let now = 0;
    const enter = gateAt({ now: () => now });
    const waited: ModelDelta[] = [];
    const watched = () => enter(undefined, (delta) => waited.push(delta));
    (await watched())();
    now = 299_999;
    await watched();
    assert.equal(waited.length, 0, 'the cache still has it');
    now = 300_000;
    const begin = await watched();
    const other = watched();
    assert.equal(waited.length, 1);
    begin();
    await other;
  });

  it('one whose request was given up while it waited goes at once, and the first may begin twice', async () => {
    const enter = gateAt({ now: () => 0 });
    const begin = await enter();
    const [one, two] = [new AbortController(), new AbortController()];
    const waits = [enter(one.signal), enter(two.signal), enter()];
    one.abort();
    await waits[0];
    two.abort();
    await waits[1];
    begin();
    begin();
    await waits[2];
    await enter();
  });

  it('nobody waits without a cache, for a short prefix, or for one that was cached for the parent', async () => {
    for (const [caches, prompt, model, own] of [
      [false, DEEP, 'cached/model', undefined],
      [true, 'short', 'cached/model', undefined],
      [true, DEEP, undefined, 'cached/model'],
    ] as const) {
      const { model: played, asked } = held('cached/model', caches);
      // With `own`, the parent uses the same model, and its first answer creates the forks.
      const config = own === undefined ? {} : { config: { model: own } };
      const on = await stage(forking(model, 'a', 'b'), played, config);
      await on.start(prompt);
      if (own !== undefined) {
        await until(() => asked.length === 1, 'the parent asks');
        const calls = ['a', 'b'].map((name) => ({
          type: 'call' as const,
          id: name,
          name: 'fork',
          input: JSON.stringify({ name, prompt: 'x' }),
        }));
        asked
          .splice(0)[0]
          ?.end({ ...DONE, content: { model: own, parts: calls }, finish: 'calls' } as ModelOutcome);
      }
      await until(() => asked.filter(({ name }) => name !== 'main').length === 2, 'both ask');
      assert.equal(waiting(on), 0);
      await on.close();
    }
  });

  it('after the death of the process the next one asks for all of them', async () => {
    const { model, asked } = held('cached/model', true);
    const on = await stage(forking('cached/model', 'a', 'b', 'c'), model);
    const root = await on.start(DEEP);
    await until(() => asked.length === 1 && waiting(on) === 2, 'two wait');
    asked.length = 0;
    const next = await on.reopen();
    await next.runtime.resume(root.id);
    await until(() => asked.length === 1, 'one asks');
    asked[0]?.delta(TEXT);
    await until(() => asked.length === 3, 'all ask');
    for (const { end } of asked) end(DONE);
    await next.runtime.settled(root.id);
  });
});
