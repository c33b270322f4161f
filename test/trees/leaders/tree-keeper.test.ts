// Proves how served trees are led: taken over if nobody leads them, never more at once than there are places, released when nothing is left to do, and left
// alone while draining.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { TreeKeeper, type TreeKeeperOptions } from '../../../src/trees/leaders/tree-keeper.ts';
import { type Play, type Stage, setStage } from '../../runtime/stage.ts';
import { until } from '../../until.ts';

let stage: Stage;
let keeper: TreeKeeper;

afterEach(async () => {
  await keeper.stop();
  await stage.close();
});

async function keep(
  play: Play,
  over: Partial<TreeKeeperOptions> = {},
  wrap?: (store: Store) => Store,
): Promise<void> {
  stage = await setStage(play, wrap === undefined ? {} : { wrap });
  keeper = new TreeKeeper({
    store: stage.store,
    runtime: stage.runtime,
    onEnded: () => undefined,
    onTrouble: (error) => {
      throw error;
    },
    ...over,
  });
}

function enter(prompt: string, placement: readonly string[] = []): Promise<string> {
  const none = { allow: [], ask: [], deny: [] };
  const config = {
    model: 'play/actor',
    thinking: 'off' as const,
    system: '',
    toolsets: [],
    tools: [],
    cwd: process.cwd(),
    permissions: { cli: none, config: none },
  };
  return stage.runtime.enter({ prompt, config }, placement);
}

const workerOf = async (id: string) => (await stage.store.agent(id))?.worker ?? null;

it('leads no more trees at once than it has places; the next is taken when one is free', async () => {
  const open = new Map<string, () => void>();
  await keep((scene) => new Promise<string>((resolve) => open.set(scene.user, () => resolve('done'))), {
    most: 2,
    idle_ms: 1,
  });
  const ids = [await enter('a'), await enter('b'), await enter('c')];
  keeper.wake();
  await until(() => open.size === 2, 'two are led');
  keeper.wake();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const led = await Promise.all(ids.map(workerOf));
  assert.equal(led.filter((worker) => worker !== null).length, 2);
  for (const release of open.values()) release();
  await until(() => open.size === 3, 'the third is led');
  for (const release of open.values()) release();
});

it('a tree at rest leaves its place to one that waits for it, and keeps it as long as none does', async () => {
  await keep((scene) => `answered ${scene.user}`, { most: 3, idle_ms: 3_600_000 });
  keeper.wake();
  const answered = (ids: readonly string[]) =>
    until(
      async () => (await Promise.all(ids.map((id) => stage.store.agent(id)))).every((one) => one?.reply),
      'they have answered',
    );
  const early = [await enter('a'), await enter('b')];
  await answered(early);
  // Entered after the others came to rest, so the keeper looked for trees again.
  await answered([await enter('there is a place for it')]);
  assert.ok(!(await Promise.all(early.map(workerOf))).includes(null), 'nobody waits for their places');
  const late = await Promise.all(['c', 'd', 'e', 'f', 'g', 'h'].map((prompt) => enter(prompt)));
  await answered(late);
  assert.ok(keeper.led <= 3);
  await stage.runtime.send(early[0] as string, 'and again');
  await until(
    async () => (await stage.store.agent(early[0] as string))?.reply?.includes('and again') === true,
    'what was given up is taken back',
  );
});

it('gives up what rests at once when others wait for its place', async () => {
  let held: () => void = () => undefined;
  const play: Play = (scene) =>
    scene.user === 'hold'
      ? new Promise<string>((resolve) => (held = () => resolve('held')))
      : `did ${scene.user}`;
  await keep(play, { most: 2, idle_ms: 3_600_000 });
  const busy = await enter('hold');
  keeper.wake();
  await until(async () => (await workerOf(busy)) !== null, 'one place is taken for long');
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) ids.push(await enter(`${n}`));
  for (const [n, id] of ids.entries())
    await until(async () => (await stage.store.agent(id))?.reply === `did ${n}`, `${n} had its turn`);
  assert.ok(keeper.led <= 2);
  assert.notEqual(await workerOf(busy), null, 'who is at work keeps its place');
  held();
  await until(async () => (await stage.store.agent(busy))?.reply === 'held', 'and comes to its end');
});

it('gives up what rests, and takes it back when a letter comes', async () => {
  await keep((scene) => `answer ${scene.step}`, { idle_ms: 20 });
  const id = await enter('first');
  keeper.wake();
  await until(async () => (await stage.store.agent(id))?.reply === 'answer 0', 'it answers');
  await until(() => {
    keeper.wake();
    return keeper.led === 0;
  }, 'it is given up');
  assert.equal(await workerOf(id), null);
  assert.deepEqual(
    (await stage.runtime.agents(id)).map((agent) => agent.id),
    [id],
    'asked of the ledger',
  );
  await stage.runtime.send(id, 'and again');
  keeper.wake();
  await until(async () => (await stage.store.agent(id))?.reply === 'answer 1', 'it answers again');
});

it('leaves trees that ask for other labels', async () => {
  await keep(() => 'done', { labels: ['eu'] });
  const other = await enter('not here', ['gpu']);
  const mine = await enter('here', ['eu']);
  keeper.wake();
  await until(async () => (await stage.store.agent(mine))?.reply === 'done', 'its own is led');
  assert.equal(await workerOf(other), null);
});

it('a drain waits for what is at work, and says when time was up', async () => {
  let release: () => void = () => undefined;
  await keep(() => new Promise<string>((resolve) => (release = () => resolve('late'))));
  const id = await enter('slow');
  keeper.wake();
  await until(async () => (await workerOf(id)) !== null && keeper.led === 1, 'it is led');
  assert.equal(await keeper.drain(50), false);
  const late = await enter('too late');
  setTimeout(() => release(), 50);
  assert.equal(await keeper.drain(20_000), true);
  assert.equal((await stage.store.agent(id))?.reply, 'late');
  assert.equal(await workerOf(late), null);
});

it('what it began is over when it has stopped: the ledger may be closed', async () => {
  let [asked, answered] = [0, 0];
  await keep(
    () => 'done',
    {},
    (store) =>
      new Proxy(store, {
        get(target, key) {
          const value = Reflect.get(target, key, target);
          if (typeof value !== 'function') return value;
          if (key !== 'unledTrees') return value.bind(target);
          return async (...args: Parameters<Store['unledTrees']>) => {
            asked += 1;
            await new Promise((resolve) => setTimeout(resolve, 50));
            const found = await target.unledTrees(...args);
            answered += 1;
            return found;
          };
        },
      }),
  );
  keeper.wake();
  await until(() => asked === 1, 'it looks');
  await keeper.stop();
  assert.equal(answered, 1);
});

it('a tree whose root has ended leaves its place at the next look, long before one at rest would', async () => {
  const ended: string[] = [];
  await keep((scene) => `answered ${scene.user}`, {
    idle_ms: 3_600_000,
    onEnded: (root_id) => ended.push(root_id),
  });
  const [rests, ends] = [await enter('rest'), await enter('end')];
  keeper.wake();
  for (const id of [rests, ends])
    await until(
      async () => (await stage.store.agent(id))?.reply !== null && keeper.led === 2,
      'both have answered',
    );
  await stage.runtime.kill(ends);
  await until(() => keeper.led === 1, 'its place is free');
  assert.deepEqual(ended, [ends], 'that is told once');
  assert.notEqual(await workerOf(rests), null);
});
