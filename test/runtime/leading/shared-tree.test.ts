// Proves that a tree whose agents are led by two runtimes works as one: letters, kills and waits by name work across them, unknown names get an
// error, and both runtimes see the end. Also that facts looked up for one call are looked up again for the next one.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { closeOpened } from '../../close-opened.ts';
import { type Databases, sharedPostgres } from '../../postgres/shared-postgres.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { NO_POLLS } from '../no-polls.ts';
import {
  type Line,
  type Play,
  parsed,
  type Scene,
  type Stage,
  type StageOptions,
  setStage,
} from '../stage.ts';

afterEach(closeOpened);

interface SharedTree {
  readonly left: Stage;
  readonly right: Stage;
  /** Led by `right`. */
  readonly root: Agent;
  /** Led by `left`. */
  readonly mid: Agent;
}

async function sharedTree(
  play: Play,
  toolset: string,
  database: string,
  more: Pick<StageOptions, 'wrap'> = {},
  rights: Pick<StageOptions, 'wrap'> = {},
): Promise<SharedTree> {
  const left = await setStage(play, { database, ...more });
  const right = await setStage(play, { database, ...rights });
  const { store } = left;
  const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
  await store.heartbeat(holder);
  const resting = {
    config: { ...CONFIG, model: 'play/actor', toolsets: [toolset] },
    state: { type: 'idle' },
  } as const;
  const root = await newRoot(store, {}, { ...resting, name: 'main', worker: holder.id });
  const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
  await left.runtime.resume(root.id);
  await store.release(holder.id);
  await right.runtime.resume(root.id);
  return { left, right, root, mid };
}

function isParked(agent: Agent | null | undefined): boolean {
  return agent?.state.type === 'executing' && agent.state.running.some(({ wait }) => wait !== undefined);
}

function suite(database: () => Promise<string>): void {
  async function perform(
    main: readonly ((scene: Scene) => Line)[],
    toolset = 'process',
  ): Promise<Stage & { root: Agent }> {
    // Holds the letter back until the root is about to wait; otherwise it would be read before the wait.
    const { promise: goes_on, resolve: go_on } = Promise.withResolvers<void>();
    const play: Play = async (scene) => {
      if (scene.name === 'main') {
        if (scene.step > 0) go_on();
        return (main[scene.step] ?? (() => 'done'))(scene);
      }
      if (scene.step > 0 || toolset !== 'process' || scene.user.includes('silently')) return 'read';
      await goes_on;
      return [['send', { to: 'main', message: `I read: ${scene.user.includes('hello')}` }]];
    };
    const { left, right, root } = await sharedTree(play, toolset, await database());
    await right.runtime.send(root.id, 'begin');
    await Promise.all([left.runtime.settled(root.id), right.runtime.settled(root.id)]);
    return {
      ...right,
      root,
      async close() {
        await left.close();
        await right.close();
      },
    };
  }

  it('letters, waits and kills by name reach agents of other processes; an unknown name is refused', async () => {
    const on = await perform([
      () => [
        ['send', { to: 'mid', message: 'hello' }],
        ['send', { to: '*', message: 'hello' }],
        ['send', { to: 'nobody', message: 'hello' }],
      ],
      () => [['wait', { timeout: 30, from_agents: ['mid'] }]],
      () => [['kill', { agent_id: 'mid' }]],
      () => [['send', { to: 'mid', message: 'still there?' }]],
    ]);
    const results = await on.results(on.root);
    assert.equal(parsed(results[0]).name, 'mid');
    assert.match(results[1]?.output ?? '', /AGENT_NOT_FOUND/);
    assert.match(results[2]?.output ?? '', /AGENT_NOT_FOUND/);
    assert.equal((parsed(results[3]).results as { message: string }[])[0]?.message, 'I read: true');
    assert.equal((parsed(results[4]).killed as string[]).length, 1);
    assert.match(results[5]?.output ?? '', /ALREADY_DEAD/);
  });

  for (const [when, misses] of [
    ['rests already', false],
    ['comes to rest during it', true],
  ] as const)
    it(`a wait has the letter of an agent that ${when}, although no signal has told of the letter`, {
      skip: misses && NO_POLLS && 'a read that failed is repeated by the poll',
    }, async () => {
      let [ledger, is_over, fails]: [Store | undefined, boolean, boolean] = [undefined, false, misses];
      const isIdle = async (id: string): Promise<boolean> => {
        const [mid] = (await ledger?.agents({ parent_id: id })) ?? [];
        is_over = mid?.state.type === 'idle' && mid.reply === 'read';
        return is_over;
      };
      const wrap = (store: Store): Store =>
        new Proxy(store, {
          get(target, name) {
            const own = target[name as keyof Store] as unknown;
            if (typeof own !== 'function') return own;
            if (name !== 'signals') return own.bind(target);
            return async () => {
              if (!is_over || !fails) return [];
              fails = false;
              throw new StoreError('E_DB_UNAVAILABLE', 'the connection broke');
            };
          },
        });
      const play: Play = async ({ name, step, id, parent_id }) => {
        if (name === 'mid') {
          if (step > 0) return 'read';
          if (misses) await until(async () => isParked(await ledger?.agent(parent_id)), 'the wait is open');
          return [['send', { to: 'main', message: 'I rest' }]];
        }
        if (step === 0) return [['send', { to: 'mid', message: 'hello' }]];
        if (step === 2) return 'done';
        if (!misses) await until(() => isIdle(id), 'the letter is sent, and its sender rests');
        return [['wait', { timeout: 30, from_agents: ['mid'] }]];
      };
      const { left, right, root } = await sharedTree(play, 'process', await database(), {}, { wrap });
      ledger = left.store;
      await right.runtime.send(root.id, 'begin');
      await until(() => isIdle(root.id), 'the letter is sent, and its sender rests');
      await Promise.all([left.runtime.settled(root.id), right.runtime.settled(root.id)]);
      const [row] = parsed((await right.results(root))[1]).results as { message?: string }[];
      assert.equal(row?.message, 'I rest');
    });

  it('a wait for an agent that sends nothing ends with its turn', async () => {
    const on = await perform([
      () => [['send', { to: 'mid', message: 'work silently' }]],
      () => [['wait', { timeout: 60, from_agents: ['mid'] }]],
    ]);
    const waited = parsed((await on.results(on.root))[1]);
    assert.equal(waited.timed_out, undefined);
    const [row] = waited.results as { status: string; last_reply: string }[];
    assert.deepEqual([row?.status, row?.last_reply], ['idle', 'read']);
  });

  it('an agent whose root is led elsewhere waits for a ledger that cannot be reached when its mode is read', async () => {
    const away = { id: '', failures: 0 };
    const wrap = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          const own = target[name as keyof Store] as unknown;
          if (typeof own !== 'function') return own;
          if (name !== 'agent') return own.bind(target);
          return async (id: string) => {
            if (id !== away.id || away.failures === 2) return target.agent(id);
            away.failures += 1;
            throw new StoreError('E_DB_UNAVAILABLE', 'the connection broke');
          };
        },
      });
    const url = await database();
    const { left, right, root, mid } = await sharedTree(() => 'here I am', 'process', url, { wrap });
    away.id = root.id;
    await right.runtime.send(mid.id, 'hello');
    await Promise.all([left.runtime.settled(root.id), right.runtime.settled(root.id)]);
    assert.deepEqual([(await right.store.agent(mid.id))?.reply, away.failures], ['here I am', 2]);
  });

  it('fifty slash commands in one message are all answered', async () => {
    const on = await perform(
      [() => Array.from({ length: 50 }, () => ['slash', { command: 'send mid hello' }] as const)],
      'slash',
    );
    const results = await on.results(on.root);
    assert.equal(results.filter(({ output }) => output.startsWith('sent to ')).length, 50);
  });

  it('the next call looks for a missing file again', async () => {
    const on = await setStage(
      (scene) => {
        if (scene.name !== 'main') return 'read';
        const call = [
          'subagent_spawn',
          { task: 'read it', description: 'd', read_first: ['notes.md'] },
        ] as const;
        if (scene.step === 0) return [call];
        if (scene.step > 1) return 'done';
        writeFileSync(join(folder(), 'notes.md'), 'here now');
        return [call];
      },
      {
        toolsets: ['delegate'],
        database: await database(),
        config: {
          permissions: { cli: { allow: ['*'], ask: [], deny: [] }, config: { allow: [], ask: [], deny: [] } },
        },
      },
    );
    const root = await on.start();
    const folder = () => root.config.cwd;
    await on.runtime.settled(root.id);
    const results = await on.results(root);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['error', 'ok'],
    );
    assert.ok(on.requests.some(({ messages }) => JSON.stringify(messages).includes('here now')));
  });
}

describe('shared trees on SQLite', () => {
  const folders: string[] = [];
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  suite(async () => {
    const folder = temporaryFolder();
    folders.push(folder);
    return `sqlite:${join(folder, 'ledger.db')}`;
  });
});

describe('shared trees on PostgreSQL', () => {
  let server: Databases;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.stop());
  suite(() => server.createDatabase());
});
