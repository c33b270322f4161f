// Proves that pages that reload their data leave the CPU to working agents, share their answers, miss no change, and never wait for data that was not loaded
// before.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RuntimeEvent } from '../../../src/runtime/runtime-event.ts';
import { Refreshes } from '../../../src/serve/http/refresh-share.ts';
import { pause } from '../../../src/trees/cpu-meter.ts';
import { type Stage, setStage } from '../../runtime/stage.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

const STALE = { 'cache-control': 'max-stale' };
/** CPU time of an answer after which the longest pause follows. */
const DEAR_MS = 30;

function spend(cpu_ms: number): void {
  const began = process.threadCpuUsage();
  for (let used = 0; used < cpu_ms * 1_000; ) {
    const { user, system } = process.threadCpuUsage(began);
    used = user + system;
  }
}

describe('while an agent is at work', () => {
  let stage: Stage;
  let refreshes: Refreshes;
  let told_at = 0;
  afterEach(async () => {
    refreshes.close();
    await stage.close();
  });

  /** Starts one agent whose model never answers. */
  async function begin(): Promise<string> {
    stage = await setStage(() => new Promise(() => undefined));
    refreshes = new Refreshes({ runtime: stage.runtime, toldAt: () => told_at });
    return (await stage.start()).id;
  }

  const tell = () => {
    told_at = performance.now();
  };

  it('a dear answer is followed by a rest for all, until nobody is at work', async () => {
    const id = await begin();
    assert.equal(
      await refreshes.answer('/a', async () => {
        spend(DEAR_MS);
        return 'first';
      }),
      'first',
    );
    tell();
    for (const key of ['/a', '/b']) {
      const again_ms = await refreshes.answer(key, async () => 'second');
      assert.ok(typeof again_ms === 'number' && again_ms > 0 && again_ms <= 5_000, String(again_ms));
    }
    await stage.runtime.interrupt(id, 'enough');
    await stage.runtime.settled(id);
    assert.equal(await refreshes.answer('/a', async () => 'third'), 'third');
  });

  it('what others do between the slices of an answer costs it nothing', async () => {
    await begin();
    const answer = refreshes.answer('/a', async () => {
      await pause();
      await pause();
      return 'first';
    });
    await nextTurn();
    spend(10 * DEAR_MS);
    await answer;
    tell();
    const next = await refreshes.answer('/a', async () => 'second');
    assert.ok(next === 'second' || (typeof next === 'number' && next < 2_500), String(next));
  });

  it('who asks in the same round shares its answer, made after the last change that was told', async () => {
    await begin();
    const make = (text: string) => async (as_of: number) => `${text} ${as_of >= told_at}`;
    assert.equal(await refreshes.answer('/a', make('first')), 'first true');
    tell();
    let both: readonly (string | number)[] = [];
    await until(async () => {
      both = await Promise.all([
        refreshes.answer('/a', make('second')),
        refreshes.answer('/a', make('third')),
      ]);
      return typeof both[0] === 'string';
    }, 'the rest is over');
    assert.deepEqual(both, ['second true', 'second true']);
  });
});

it('an agent that is removed while it works is at work no more, and one of two that rests leaves the other at work', async () => {
  let tell: (event: RuntimeEvent) => void = () => undefined;
  const subscribe = (listener: typeof tell) => {
    tell = listener;
    return () => undefined;
  };
  let told_at = 0;
  const refreshes = new Refreshes({ runtime: { subscribe }, toldAt: () => told_at });
  const agent = (id: string, state: object) =>
    tell({ type: 'agent', agent: { id, state } } as unknown as RuntimeEvent);
  const at_work = { type: 'requesting', turn: {} };
  const answers = async () => {
    told_at = performance.now();
    return (await refreshes.answer('/a', async () => 'made')) === 'made';
  };
  agent('one', at_work);
  agent('two', at_work);
  await refreshes.answer('/a', async () => {
    spend(DEAR_MS);
    return 'first';
  });
  assert.equal(await answers(), false);
  agent('one', { type: 'idle' });
  assert.equal(await answers(), false, 'the other is at work');
  tell({ type: 'removed', ids: ['one', 'two'] } as unknown as RuntimeEvent);
  assert.equal(await answers(), true);
});

describe('over HTTP', () => {
  let web: WebStage;
  afterEach(() => web.close());

  it('a refresh may be put off, what is asked for the first time never', async () => {
    web = await setWebStage(() => new Promise(() => undefined), {
      wrap: (store) =>
        Object.assign(Object.create(store), {
          asks: (filter: object) => {
            spend(DEAR_MS);
            return store.asks(filter);
          },
        }),
    });
    const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'never end' } });
    const path = `/v1/trees/${json.id}/timeline`;
    await until(async () => (await web.stage.runtime.agents(json.id)).length > 0, 'the tree is led');
    await until(async () => (await web.ask(path, { headers: STALE })).status === 204, 'refreshes rest');
    const { headers, text } = await web.ask(path, { headers: STALE });
    assert.match(String(headers['retry-after']), /^[1-5]$/);
    assert.equal(text, '');
    for (const [asked, how] of [
      [path, {}],
      ['/v1/approvals', { headers: STALE }],
      [`/v1/agents/${json.id}`, { headers: STALE }],
    ] as const)
      assert.equal((await web.ask(asked, how)).status, 200, asked);
  });
});
