// Proves, with a clock that the test sets, that steps of the wall clock in the middle of work, ahead or back, end no wait, turn or time budget, and hold none up;
// and that the time in which nobody led an agent does not count either.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ledgerTime } from '../../../src/runtime/leading/ledger-time.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { newLedger } from '../../store/new-ledger.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import { approvalStage } from '../permissions/approval-stage.ts';
import { forked, type Play, parsed } from '../stage.ts';

const HOUR_MS = 3_600_000;
const STEPS = [HOUR_MS / 3, 48 * HOUR_MS, -2 * HOUR_MS];

/** The root waits for the next message, beside a child that waits for a person: nobody is at work, and the tree can be parked. */
const waitsBesideAsker =
  (timeout: number): Play =>
  ({ name, step, last }) => {
    if (name === 'kid') return [['act', { what: 'it' }]];
    if (step === 0) return [['fork', { name: 'kid', prompt: 'act' }]];
    return step === 1 ? [['wait', { timeout }]] : String(parsed(last[0]).message ?? last[0]?.output);
  };

/** The clock of a process on the machine of the ledger, whose wall clock the test sets. */
async function steppedClock() {
  let [off_ms, long_ago_ms] = [0, 0];
  const wall = () => Date.now() + off_ms;
  const lap = () => SYSTEM_RUNTIME_CLOCK.lap() + long_ago_ms;
  // Timers may ring a millisecond early; these always do.
  const after: RuntimeClock['after'] = (ms, ring) => SYSTEM_RUNTIME_CLOCK.after(Math.max(0, ms - 2), ring);
  const clock = await ledgerTime(
    { now: async () => wall() },
    { ...SYSTEM_RUNTIME_CLOCK, after, lap, now: wall },
  );
  // As if it had been open for a while: soon after a measurement, a step is only followed when a second is over.
  long_ago_ms = 1_100;
  return {
    clock,
    wall,
    /** Resolves once the runtime has followed the step. */
    async step(by_ms: number) {
      off_ms += by_ms;
      await until(() => Math.abs(clock.now() - wall()) < 1_000, 'the clock was followed');
    },
  };
}

/** Plays a story with each step, all at once, since they mostly wait. */
async function eachAtOnce(steps: readonly number[], story: (by_ms: number) => Promise<void>): Promise<void> {
  await Promise.all(
    steps.map((by_ms) =>
      story(by_ms).catch((cause) => {
        throw new Error(`a step of ${by_ms / HOUR_MS} h: ${cause.message}`, { cause });
      }),
    ),
  );
}

onBothDatabases('a step of the wall clock', (database) => {
  const stage = stagesOn(database);

  it('a wait for five agents gets five reports, and nobody’s run time is over', () =>
    eachAtOnce(STEPS, async (by_ms) => {
      const { clock, step } = await steppedClock();
      const [first, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const play: Play = async (scene) => {
        if (scene.name !== 'main') {
          if (scene.step > 0) return 'ok';
          await (scene.name === 'a' ? first : others).promise;
          return [['send', { to: scene.parent_id, message: `report of ${scene.name}` }]];
        }
        if (scene.step === 0)
          return ['a', 'b', 'c', 'd', 'e'].map((name) => ['fork', { name, prompt: 'report' }] as const);
        if (scene.step === 1) return [['wait', { timeout: 120, from_agents: forked(scene) }]];
        return scene.last[0]?.output ?? '';
      };
      const on = await stage(play, { clock });
      const root = await on.start();
      await until(async () => (await on.store.agent(root.id))?.doing === 'wait 5 agents', 'the root waits');
      await step(by_ms);
      // The first report wakes the root, which must go on waiting for the others.
      first.resolve();
      await until(async () => (await on.agent('a')).reply === 'ok', 'the first has reported');
      others.resolve();
      const { reply, agents, failure } = await on.runtime.settled(root.id);
      assert.equal(failure, null);
      assert.deepEqual([...new Set(reply.match(/report of [a-e]/g))].length, 5, reply);
      assert.deepEqual(
        agents.map(({ state }) => (state.type === 'idle' ? state.limit : state.type)),
        Array.from({ length: 6 }, () => undefined),
      );
    }));

  it('a wait and a run time end when their own time is over', () =>
    eachAtOnce([2 * HOUR_MS, -2 * HOUR_MS], async (by_ms) => {
      const { clock, step } = await steppedClock();
      const begun = Promise.withResolvers<void>();
      const play: Play = async (scene) => {
        if (scene.name === 'busy') {
          begun.resolve();
          return new Promise(() => undefined);
        }
        if (scene.step === 0) return [['fork', { name: 'busy', prompt: 'never ends' }]];
        if (scene.step === 1) return [['wait', { timeout: 1 }]];
        return String(parsed(scene.last[0]).status);
      };
      const on = await stage(play, { clock });
      // On a busy machine the run time must not end before the wait does.
      const root = await on.start('begin', { run_ms: 6_000 });
      await begun.promise;
      await until(async () => (await on.store.agent(root.id))?.doing === 'wait for a message', 'it waits');
      await step(by_ms);
      const replyOf = async () => (await on.store.agent(root.id))?.reply ?? null;
      await until(async () => (await replyOf()) !== null, 'the wait is over');
      assert.equal(await replyOf(), 'timeout');
      await until(async () => (await on.agent('busy')).state.type !== 'requesting', 'the run time is over');
      const { state } = await on.agent('busy');
      assert.match(state.type === 'errored' ? state.failure.error : state.type, /run time of 6 s/);
    }));

  it('a process that was stopped for longer than the run time goes on with what was left', async () => {
    let off_ms = 0;
    const timers = new Set<{ readonly at: number; readonly ringNow: () => void }>();
    const polls: (() => void)[] = [];
    const lap = () => SYSTEM_RUNTIME_CLOCK.lap() + off_ms;
    const wall = () => Date.now() + off_ms;
    const after: RuntimeClock['after'] = (ms, ring) => {
      const cancel = SYSTEM_RUNTIME_CLOCK.after(ms, ring);
      const stop = () => {
        timers.delete(timer);
        cancel();
      };
      const ringNow = () => {
        stop();
        ring();
      };
      const timer = { at: lap() + ms, ringNow };
      timers.add(timer);
      return stop;
    };
    const every: RuntimeClock['every'] = (ms, ring, background) => {
      if (ms <= 1_000) polls.push(ring);
      return SYSTEM_RUNTIME_CLOCK.every(ms, ring, background);
    };
    const own = { ...SYSTEM_RUNTIME_CLOCK, lap, now: wall, after, every };
    const clock = await ledgerTime({ now: async () => wall() }, own);
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const play: Play = async ({ step }) => {
      asked.resolve();
      await answered.promise;
      return step === 0 ? [['wait', { timeout: 0 }]] : 'ok';
    };
    const on = await stage(play, { clock });
    const root = await on.start('begin', { run_ms: 600_000 });
    await asked.promise;
    off_ms = HOUR_MS;
    // As when a process goes on: all that was due meanwhile rings at once, what looks at the clock first.
    for (const ring of polls) ring();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    const due = [...timers].filter(({ at }) => at <= lap()).toSorted((a, b) => a.at - b.at);
    for (const { ringNow } of due) ringNow();
    answered.resolve();
    const { reply, root: ended } = await on.runtime.settled(root.id);
    assert.equal(reply, 'ok');
    assert.equal(ended.state.type === 'idle' ? ended.state.limit : ended.state.type, undefined);
    const told = (await on.store.history(root.id)).filter(({ kind }) => kind === 'event');
    assert.deepEqual(told, []);
  });

  it('a wait ends of which the timer rang early, and nothing else wakes the agent', () =>
    eachAtOnce([2 * HOUR_MS, -2 * HOUR_MS], async (by_ms) => {
      const { clock, step } = await steppedClock();
      const timedOut = Promise.withResolvers<string>();
      const play: Play = (scene) => {
        if (scene.name === 'busy') return timedOut.promise;
        if (scene.step === 0) return [['fork', { name: 'busy', prompt: 'work' }]];
        if (scene.step === 1) return [['wait', { timeout: 1 }]];
        const status = String(parsed(scene.last[0]).status);
        timedOut.resolve(status);
        return status;
      };
      const on = await stage(play, { clock });
      const root = await on.start();
      await until(async () => (await on.store.agent(root.id))?.doing === 'wait for a message', 'it waits');
      await step(by_ms);
      assert.equal(await timedOut.promise, 'timeout');
      await on.runtime.settled(root.id);
    }));

  it('a time budget counts no step, for the agent and for those that it creates', async () => {
    const { clock, step } = await steppedClock();
    const play: Play = async (scene) => {
      if (scene.name === 'kid')
        return scene.step === 0 ? [['fork', { name: 'grandkid', prompt: 'x' }]] : 'ok';
      if (scene.name === 'grandkid') return 'ok';
      if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'x', budget: { seconds: 600 } }]];
      return 'ok';
    };
    const stepped = Promise.withResolvers<void>();
    const on = await stage(
      async (scene) => {
        if (scene.name === 'kid' && scene.step === 0) await stepped.promise;
        return play(scene);
      },
      { clock },
    );
    const root = await on.start();
    await until(() => on.requests.some(({ agent }) => agent.name === 'kid'), 'the child works');
    const before = await on.agent('kid');
    await step(2 * HOUR_MS);
    stepped.resolve();
    await on.runtime.settled(root.id);
    for (const name of ['kid', 'grandkid']) {
      const { reply, config } = await on.agent(name);
      assert.equal(reply, 'ok');
      const moved_ms = (config.budgets?.[0]?.until ?? 0) - (before.config.budgets?.[0]?.until ?? 0);
      assert.ok(Math.abs(moved_ms - 2 * HOUR_MS) < 60_000, `${name}: ${moved_ms}`);
    }
  });

  it('while a person is asked, the step is counted once', async () => {
    const { clock, wall, step } = await steppedClock();
    const play: Play = ({ step: number }) => (number === 0 ? [['act', { what: 'it' }]] : 'done');
    const on = await approvalStage(play, await database(), { clock });
    const root = await on.start();
    const [ask] = await on.asked(root);
    await step(2 * HOUR_MS);
    await on.allow(ask);
    const { failure } = await on.runtime.settled(root.id);
    assert.equal(failure, null);
    const turn = on.events.flatMap((event) =>
      event.type === 'agent' && 'turn' in event.agent.state ? event.agent.state.turn : [],
    );
    const ahead_ms = (turn.at(-1)?.started_at ?? 0) - wall();
    assert.ok(ahead_ms <= 0, `the turn begins ${ahead_ms} ms from now`);
  });
});

onBothDatabases('a parked wait', (database) => {
  it('goes on with what was left after the machine has slept, whenever it is taken up again', async () => {
    const { clock, wall, step } = await steppedClock();
    const on = await approvalStage(waitsBesideAsker(600), await database(), { clock });
    const root = await on.start();
    await until(async () => (await on.store.agent(root.id))?.doing === 'wait for a message', 'it waits');
    await until(() => on.runtime.release(root.id), 'it is parked');
    await step(8 * HOUR_MS);
    await on.runtime.resume(root.id, { unattended: true });
    const deadline = async () =>
      Number(/"deadline":(\d+)/.exec(JSON.stringify((await on.store.agent(root.id))?.state))?.[1]);
    await until(async () => (await deadline()) > wall(), 'it has time left');
    await on.runtime.send(root.id, 'go on');
    assert.equal((await on.runtime.settled(root.id, 'root')).reply, 'go on');
  });
});

onBothDatabases('time without a leader', (database, kind) => {
  it('a tree of which nobody took care for eight hours goes on with what was left', {
    skip: kind !== 'SQLite' && 'the clock of a server of PostgreSQL cannot be set by a test',
  }, async () => {
    for (const end of ['clean', 'crash'] as const) {
      let off_ms = 0;
      const now = () => Date.now() + off_ms;
      const folder = temporaryFolder();
      const address = (await database()) ?? (await newLedger(folder));
      const store = await openStore(address, { now });
      const clockOf = () => ledgerTime(store, { ...SYSTEM_RUNTIME_CLOCK, now });
      const play = waitsBesideAsker(1_200);
      const first = await approvalStage(play, undefined, {
        ground: { store, folder },
        clock: await clockOf(),
      });
      const root = await first.start();
      await until(async () => (await store.agent(root.id))?.doing === 'wait for a message', 'it waits');
      // A crash leaves its lease behind, which then runs out.
      const [{ id, host, pid } = { id: '', host: '', pid: 0 }] = await store.workers();
      await first.close();
      if (end === 'crash') {
        await store.heartbeat({ id, host: `not-${host}`, pid, role: 'run', labels: [] });
        await store.claim(root.id, { id, host: `not-${host}`, pid, role: 'run', labels: [] });
      }
      off_ms = 8 * HOUR_MS;
      const next = await approvalStage(play, undefined, {
        ground: { store, folder },
        clock: await clockOf(),
      });
      await next.runtime.resume(root.id, end === 'crash' ? { unattended: true } : {});
      const stateOf = async () => JSON.stringify((await store.agent(root.id))?.state);
      await until(
        async () => Number(/"deadline":(\d+)/.exec(await stateOf())?.[1]) > now(),
        'it has time left',
      );
      await next.runtime.send(root.id, 'go on');
      const { reply, failure } = await next.runtime.settled(root.id, 'root');
      assert.deepEqual([failure, reply], [null, 'go on'], end);
      await next.close();
      await store.close();
    }
  });
});
