// Proves, on both databases, with two runtimes that poll nothing, each with a ledger connection of its own, that a wait ends whichever of two commits comes last:
// the one that parks the waiter, or the one in which the agent that it waits for comes to rest. Each is held at a gate until the other is in the ledger.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Step } from '../../../src/kernel/step.ts';
import { isWorking } from '../../../src/records/agent/state.ts';
import type { Store } from '../../../src/store/store.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { onBothDatabases } from '../both-databases.ts';
import { WITHOUT_POLLS } from '../no-polls.ts';
import { parsed, setStage, until } from '../stage.ts';
import { Doors } from '../toolsets/sessions-play.ts';
import { cast, waitFor } from './ordered-family.ts';

/** Holds the first commit that holds such a step until it is let go. */
class Gate {
  readonly reached = Promise.withResolvers<void>();
  readonly go = Promise.withResolvers<void>();
  readonly #holds: (step: Step) => boolean;

  constructor(holds: (step: Step) => boolean) {
    this.#holds = holds;
  }

  readonly wrap = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'commit') return value.bind(target);
        return async (steps: readonly Step[]) => {
          if (steps.some(this.#holds)) {
            this.reached.resolve();
            await this.go.promise;
          }
          return target.commit(steps);
        };
      },
    });
}

const parks = ({ waits_for }: Step) => waits_for !== null && waits_for.length > 0;
const rests = ({ state, messages }: Step) => !isWorking(state.type) && messages.length > 0;

onBothDatabases('of two commits one is held', (database) => {
  for (const held of ['parks', 'rests'] as const)
    it(`the one that ${held}`, async () => {
      const folder = temporaryFolder();
      const url = (await database()) ?? `sqlite:${join(folder, 'ledger.db')}`;
      const [doors, gate] = [new Doors(), new Gate(held === 'parks' ? parks : rests)];
      const play = cast({ main: [[waitFor('mid')], 'done'], mid: ['report'] });
      const stageOf = (wrap: (store: Store) => Store) =>
        setStage(
          async (scene) => {
            if (scene.name === 'mid') await doors.pass('mid');
            return play(scene);
          },
          { database: url, clock: WITHOUT_POLLS, wrap },
        );
      const itself = (store: Store) => store;
      const left = await stageOf(held === 'rests' ? gate.wrap : itself);
      const right = await stageOf(held === 'parks' ? gate.wrap : itself);
      const { store } = left;
      const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
      await store.heartbeat(holder);
      const resting = { config: { ...CONFIG, model: 'play/actor' }, state: { type: 'idle' } } as const;
      const root = await newRoot(store, {}, { ...resting, name: 'main', worker: holder.id });
      const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
      await left.runtime.resume(root.id);
      await store.release(holder.id);
      await right.runtime.resume(root.id);

      const isAtWork = async (id: string) => isWorking((await store.agent(id))?.state.type ?? 'idle');
      await left.runtime.send(mid.id, 'begin');
      await until(() => isAtWork(mid.id), 'the other is at work');
      await right.runtime.send(root.id, 'begin');
      if (held === 'parks') {
        await gate.reached.promise;
        doors.open('mid');
        await until(async () => !(await isAtWork(mid.id)), 'it rests, and nobody waits for it');
      } else {
        await until(async () => (await store.waiters(mid.id)).length > 0, 'the root waits');
        doors.open('mid');
        await gate.reached.promise;
        assert.ok(await isAtWork(mid.id));
      }
      gate.go.resolve();
      await until(async () => (await right.results(root)).length > 0, 'the wait is over');
      const [result] = parsed((await right.results(root))[0]).results as { last_reply?: string }[];
      assert.equal(result?.last_reply, 'report');
      await left.close();
      await right.close();
    });
});
