// Proves that waiting for the end of a tree needs no poll and, where one process leads all of it, no query to the ledger; that it survives an
// outage of the ledger; and that it ends with an error for a closed runtime or an unknown tree.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { child, letter, newRoot } from '../../store/ledger-fixture.ts';
import { until } from '../../until.ts';
import { type Line, type Scene, setStage } from '../stage.ts';

/** Fails a test that would hang. */
const timeout = 20_000;
const NEVER_POLLS: RuntimeClock = { ...SYSTEM_RUNTIME_CLOCK, every: () => () => undefined };

it('reports at once a tree that comes to rest or rests already', { timeout }, async () => {
  const on = await setStage(() => 'done', { clock: NEVER_POLLS });
  const { root } = await on.perform();
  assert.equal((await on.runtime.settled(root.id)).reply, 'done');
  await on.close();
});

it('reports it while the next step of another tree has to wait', { timeout }, async () => {
  let used_ms = 0;
  const clock = { ...NEVER_POLLS, lap: () => used_ms };
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, {
      commit: async (...given: Parameters<Store['commit']>) => {
        const own = given[0].filter(({ agent_id }) => agent_id === busy?.id);
        if (own.some(({ messages }) => messages.some(({ kind }) => kind === 'result'))) used_ms += 100;
        if (own.length > 0 && is_released) told.push('went on');
        return store.commit(...given);
      },
    });
  const told: string[] = [];
  let busy: Agent | null = null;
  let is_released = false;
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const play = async ({ user, step }: Scene): Promise<Line> => {
    if (user === 'once') {
      if (step === 0) return [['list_agents', {}]];
      asked.resolve();
      await released.promise;
      return 'done';
    }
    await asked.promise;
    if (step === 1) {
      is_released = true;
      released.resolve();
    }
    return step < 2 ? [['list_agents', {}]] : 'done';
  };
  const on = await setStage(play, { clock, wrap });
  busy = await on.start('on and on');
  await on.perform('once');
  told.push('settled');
  used_ms += 1_000;
  await on.runtime.settled(busy.id);
  assert.deepEqual([...new Set(told)], ['settled', 'went on']);
  await on.close();
});

it('does not query the ledger about a tree that is led only here, or after a takeover', async () => {
  let asked = 0;
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, {
      agents: (...given: Parameters<Store['agents']>) => {
        asked += 1;
        return store.agents(...given);
      },
    });
  const on = await setStage(() => 'done', { wrap });
  const { root } = await on.perform();
  assert.equal(asked, 0);
  const again = await on.reopen();
  await again.runtime.resume(root.id);
  const before = asked;
  await again.runtime.settled(root.id);
  assert.equal(asked, before);
  await again.close();
});

it('queries an unreachable ledger again, and reports other errors', { timeout }, async () => {
  const failures = (['E_DB_UNAVAILABLE', 'E_DB_CORRUPT'] as const).map((code) => new StoreError(code, code));
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, { agents: () => Promise.reject(failures.shift()) });
  const on = await setStage(() => 'done', { wrap });
  await assert.rejects(on.runtime.settled('nobody'), { code: 'E_DB_CORRUPT' });
  await on.close();
});

it('mail counts as work for a resting agent, not for an ended one', { timeout }, async () => {
  const on = await setStage(() => 'done');
  const state = { type: 'idle' } as const;
  const root = await newRoot(on.store, {}, { state });
  const ended = await child(on.store, root, { state, origin: 'spawn' });
  await on.store.send(letter(root, ended));
  const told: string[] = [];
  const settled = on.runtime.settled(root.id).then(() => told.push('settled'));
  await assert.rejects(on.runtime.settled('nobody'));
  await on.store.kill(ended.id, 'you', 1).then(() => told.push('killed'));
  await settled;
  assert.deepEqual(told, ['killed', 'settled']);
  await on.close();
});

it('work that arrived since the query counts, even if none of it is done yet', {
  timeout,
}, async () => {
  const on = await setStage(() => ({ text: '', finish: 'refused' }));
  const { root, failure } = await on.perform();
  assert.equal(failure?.kind, 'refused');
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, {
      agents: async (...given: Parameters<Store['agents']>) => {
        asked += 1;
        const first = asked === 1;
        const agents = await store.agents(...given);
        if (first) await held;
        return agents;
      },
    });
  const again = await on.reopen(() => 'done', { wrap, clock: NEVER_POLLS });
  const settled = again.runtime.settled(root.id);
  await until(() => asked === 1, 'the ledger is asked');
  await again.runtime.resume(root.id, { retry: true });
  release();
  assert.equal((await settled).reply, 'done');
  await again.close();
});

it('the process stays alive while somebody waits, no longer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const on = await setStage(() => 'done');
  const { root } = await on.perform();
  const before = timers();
  const waiting = (['tree', 'root'] as const).map((until) => on.runtime.settled(root.id, until));
  assert.equal(timers(), before + 1);
  await Promise.all(waiting);
  assert.equal(timers(), before);
  await on.close();
});

it('a wait for a tree reports that the runtime was closed or that there is no such tree', {
  timeout,
}, async () => {
  const on = await setStage(() => new Promise(() => undefined));
  const root = await on.start();
  await assert.rejects(on.runtime.settled('nobody'), { code: 'E_AGENT_NOT_FOUND' });
  const rejected = assert.rejects(on.runtime.settled(root.id), { code: 'E_CLOSED' });
  await on.close();
  await rejected;
});

it('ends when its signal aborts: before it is called, while the ledger is asked for the agent, and during the wait', {
  timeout,
}, async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const wrap = (store: Store): Store =>
    Object.assign(Object.create(store) as Store, {
      agent: async (...given: Parameters<Store['agent']>) => {
        asked.resolve();
        await answered.promise;
        return store.agent(...given);
      },
    });
  const over = Promise.withResolvers<void>();
  const play = async (): Promise<Line> => {
    await over.promise;
    return 'done';
  };
  const on = await setStage(play, { clock: NEVER_POLLS, wrap });
  const { id } = await on.start();
  const reason = new Error('enough');
  const wait = (signal: AbortSignal) => assert.rejects(on.runtime.settled(id, 'tree', signal), reason);
  await wait(AbortSignal.abort(reason));
  const cut = new AbortController();
  const waiting = wait(cut.signal);
  cut.abort(reason);
  await waiting;
  const late = new AbortController();
  const unknown = on.runtime.settled('00000000-0000-4000-8000-000000000000', 'tree', late.signal);
  await asked.promise;
  late.abort(reason);
  answered.resolve();
  await assert.rejects(unknown, reason);
  over.resolve();
  assert.equal((await on.runtime.settled(id)).reply, 'done');
  await on.close();
});
