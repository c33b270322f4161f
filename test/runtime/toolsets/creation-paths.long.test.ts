// Proves that all ways to create an agent behave alike: the same limits, refusals, positions in the tree and budgets, permissions
// that only narrow, and the same end by a kill, for every tool of the five vocabularies and for `start`, on both databases.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { policyOf } from '../../../src/permissions/policy.ts';
import type { Agent, AgentConfig } from '../../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../src/records/agent/limits.ts';
import type { Profile } from '../../../src/records/agent/profile.ts';
import { isTerminal } from '../../../src/records/agent/state.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { alwaysOnBothDatabases, type Database } from '../both-databases.ts';
import { parsed, type Stage, setStage } from '../stage.ts';
import { CREATION_PATHS, type CreationPath, playOf, stageOf } from './creation-path.ts';

/** Calls in one message. */
const CALLS = 50;

/** Limits, the number of calls that they admit, and the numbers that the refusal names. */
const LIMITS: readonly (readonly [Partial<Limits>, number, RegExp])[] = [
  [{ depth: 0 }, 0, /limit "depth" reached: 0 of 0\..*--limit depth=\d+/],
  [{ children: 4 }, 4, /limit "children" reached: 4 of 4\..*--limit children=\d+/],
  [{ live: 4 }, 3, /limit "live" reached: 4 of 4\..*--limit live=\d+/],
  [{ total: 6 }, 5, /limit "total" reached: 6 of 6\..*--limit total=\d+/],
];

const NONE = { allow: [], ask: [], deny: [] };
const profile = (name: string, more: Partial<Profile>) => profileOf({ name, source: 'test', ...more });

const STRICT = profile('strict', {
  deny_tools: ['think'],
  permissions: { ...NONE, deny: ['read:private/**'] },
});
const GREEDY = profile('greedy', {
  tools: ['read', 'write', 'bash', 'think', 'patch'],
  permissions: { ...NONE, allow: ['*', 'read:private/**', 'read:secrets/**', 'bash:*'] },
  turns: 1_000,
  run_ms: 86_400_000,
});

const SUBJECTS = [
  ['read', 'src/a.ts'],
  ['read', 'secrets/key'],
  ['read', 'private/diary'],
  ['write', 'src/a.ts'],
  ['bash', 'rm -rf /'],
  ['think', ''],
] as const;
const RANK = { deny: 0, ask: 1, allow: 2 };

function assertNarrower(child: AgentConfig, parent: AgentConfig): void {
  for (const tool of child.tools) assert.ok(parent.tools.includes(tool), `the child gained ${tool}`);
  for (const [tool, subject] of SUBJECTS) {
    const [below, above] = [child, parent].map(
      (config) => RANK[decide(policyOf(config), permissionOf(tool), subject).verdict],
    );
    assert.ok((below ?? 9) <= (above ?? 0), `the child may do more with ${tool} ${subject}`);
  }
  if (parent.turns !== undefined) assert.ok((child.turns ?? Number.POSITIVE_INFINITY) <= parent.turns);
  if (parent.run_ms !== undefined) assert.ok((child.run_ms ?? Number.POSITIVE_INFINITY) <= parent.run_ms);
}

const members = (on: Stage, root_id: string): Promise<Agent[]> => on.store.agents({ root_id });

/** Asserts that the counters of the ledger match its agents. */
async function assertCounted(on: Stage, root_id: string): Promise<void> {
  const tree = await on.store.tree(root_id);
  const agents = await members(on, root_id);
  assert.equal(tree?.total, agents.length);
  assert.equal(tree?.live, agents.filter((agent) => !isTerminal(agent.state.type)).length);
}

/** Asserts that of many calls in one message, exactly as many created a child as the limit admits, and that all others were refused. */
async function assertAdmitted(on: Stage, root: Agent, admitted: number, refusal: RegExp): Promise<void> {
  const refused = async () =>
    (await on.results(root)).filter((result) => result.status === 'error' && result.output.includes('limit'));
  await until(
    async () =>
      (await refused()).length === CALLS - admitted && (await members(on, root.id)).length === admitted + 1,
    `${admitted} of ${CALLS} are admitted`,
  );
  for (const result of await refused()) {
    const { code, message } = parsed(result).error as { code: string; message: string };
    assert.equal(code, 'LIMIT_REACHED');
    assert.match(message, refusal);
  }
  await assertCounted(on, root.id);
}

const many = (path: CreationPath, count = CALLS) =>
  Array.from({ length: count }, (_, index) => path.call(index));

function pathSuite(path: CreationPath, database: Database): void {
  for (const [limits, admitted, refusal] of LIMITS)
    it(`${JSON.stringify(limits)}: ${CALLS} calls in one message`, async () => {
      const gate = Promise.withResolvers<void>();
      const on = await setStage(
        playOf(path, { main: [many(path)] }, gate.promise),
        stageOf(path, await database()),
      );
      const root = await on.start('go', limits);
      await assertAdmitted(on, root, admitted, refusal);
      gate.resolve();
      const { agents } = await on.runtime.settled(root.id);
      assert.equal(agents.length, admitted + 1);
      await assertCounted(on, root.id);
    });

  it('the depth limit applies to the depth of the creator, not of the root', async () => {
    for (const depth of [1, 2]) {
      const on = await setStage(
        playOf(path, { main: [[path.mid()]], mid: [[path.call(0)]] }),
        stageOf(path, await database()),
      );
      const { root } = await on.perform('go', { depth });
      const mid = await on.agent('mid');
      const [result] = await on.results(mid);
      const below = (await members(on, root.id)).filter((agent) => agent.parent_id === mid.id);
      if (depth === 1) assert.match(result?.output ?? '', /LIMIT_REACHED.*limit \\"depth\\" reached: 1 of 1/);
      else assert.equal(result?.status, 'ok');
      assert.deepEqual(
        below.map((agent) => [agent.depth, agent.origin]),
        depth === 1 ? [] : [[2, path.origin]],
      );
      await assertCounted(on, root.id);
      await on.close();
    }
  });

  it('two runtimes on one database create at the same time, each in its own tree', async () => {
    const shared = (await database()) ?? `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const gate = Promise.withResolvers<void>();
    const play = playOf(path, { main: [many(path)] }, gate.promise);
    const stages = [await setStage(play, stageOf(path, shared)), await setStage(play, stageOf(path, shared))];
    const roots = await Promise.all(stages.map((on) => on.start('go', { children: 4 })));
    const [, admitted, refusal] = LIMITS[1] as (typeof LIMITS)[number];
    await Promise.all(
      stages.map((on, index) => assertAdmitted(on, roots[index] as Agent, admitted, refusal)),
    );
    gate.resolve();
    await Promise.all(stages.map((on, index) => on.runtime.settled((roots[index] as Agent).id)));
    const workers = new Set<string | null>();
    for (const [index, on] of stages.entries()) {
      const root = roots[index] as Agent;
      await assertCounted(on, root.id);
      for (const agent of await members(on, root.id)) if (agent.worker !== null) workers.add(agent.worker);
      assert.equal((await members(on, root.id)).length, admitted + 1);
    }
    assert.equal(workers.size, 2);
  });

  it('a child has the right parent, root, depth and lease; only a blocking path waits for it', async () => {
    const gate = Promise.withResolvers<void>();
    const on = await setStage(
      playOf(path, { main: [many(path, 2)] }, gate.promise),
      stageOf(path, await database()),
    );
    const root = await on.start();
    await until(async () => (await members(on, root.id)).length === 3, 'two children');
    const [worker] = await on.store.workers();
    const children = (await members(on, root.id)).filter((agent) => agent.id !== root.id);
    for (const child of children) {
      const { parent_id, root_id, depth, origin, epoch } = child;
      assert.deepEqual(
        { parent_id, root_id, depth, origin, epoch, worker: child.worker },
        { parent_id: root.id, root_id: root.id, depth: 1, origin: path.origin, epoch: 1, worker: worker?.id },
      );
      if (path.blocks)
        await until(
          async () => (await on.store.waiters(child.id)).includes(root.id),
          'the root waits for it',
        );
      else assert.deepEqual(await on.store.waiters(child.id), []);
    }
    gate.resolve();
    await on.runtime.settled(root.id);
    for (const child of children) assert.deepEqual(await on.store.waiters(child.id), []);
  });

  it('many concurrent creators in one tree get no more than one would', async () => {
    const creators = 8;
    // Only the total limit: a creator that is finished rests, and its place among the working agents is free again.
    for (const [limits, admitted] of [[{ total: creators + 6 }, 5]] as const) {
      const [gate, together] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const script = playOf(
        path,
        { main: [Array.from({ length: creators }, () => path.mid())], mid: [many(path, 3)] },
        gate.promise,
      );
      const on = await setStage(
        async (scene) => {
          if (scene.name === 'mid') await together.promise;
          return script(scene);
        },
        stageOf(path, await database()),
      );
      const root = await on.start('go', { ...limits, depth: 2 });
      const below = async (name: string) =>
        (await members(on, root.id)).filter(
          (agent) => (agent.name === 'mid') === (name === 'mid') && agent.id !== root.id,
        );
      await until(async () => (await below('mid')).length === creators, 'all creators are there');
      together.resolve();
      const refused = async () => {
        const results = await Promise.all((await below('mid')).map((mid) => on.results(mid)));
        return results.flat().filter((result) => result.output.includes('LIMIT_REACHED'));
      };
      await until(async () => (await refused()).length === creators * 3 - admitted, 'the others are refused');
      assert.equal((await below('child')).length, admitted);
      await assertCounted(on, root.id);
      gate.resolve();
      await on.runtime.settled(root.id);
      await assertCounted(on, root.id);
      await on.close();
    }
  });

  it('two runtimes that lead agents of one tree get no more than one would', async () => {
    const shared = (await database()) ?? `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const gate = Promise.withResolvers<void>();
    const create = many(path);
    const script = playOf(path, { main: [create], mid: [create] }, gate.promise);
    const options = stageOf(path, shared);
    const [left, right] = [await setStage(script, options), await setStage(script, options)];
    const { store } = left;
    // At first another worker leads the root, so that the first runtime can claim only its child.
    const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
    await store.heartbeat(holder);
    const config = { ...CONFIG, model: 'play/actor', toolsets: path.toolsets, cwd: temporaryFolder() };
    const resting = { config, state: { type: 'idle' } } as const;
    const root = await newRoot(
      store,
      { total: 12, children: 100, live: 100 },
      { ...resting, name: 'main', worker: holder.id },
    );
    const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
    assert.deepEqual(
      (await left.runtime.resume(root.id)).agents.map((agent) => agent.id),
      [mid.id],
    );
    await store.release(holder.id);
    assert.deepEqual(
      (await right.runtime.resume(root.id)).agents.map((agent) => agent.id),
      [root.id],
    );
    await Promise.all([left.runtime.send(mid.id, 'create'), right.runtime.send(root.id, 'create')]);
    const refused = async () =>
      [...(await left.results(mid)), ...(await right.results(root))].filter(({ output }) =>
        output.includes('LIMIT_REACHED'),
      );
    await until(async () => (await refused()).length === CALLS * 2 - 10, 'all but ten are refused');
    assert.equal((await members(left, root.id)).length, 12);
    await assertCounted(left, root.id);
    gate.resolve();
    await Promise.all([left.runtime.settled(root.id), right.runtime.settled(root.id)]);
    assert.equal((await members(left, root.id)).length, 12);
    await assertCounted(left, root.id);
  });

  it('a kill of the parent kills the child', async () => {
    const gate = Promise.withResolvers<void>();
    const on = await setStage(
      playOf(path, { main: [[path.mid()]], mid: [many(path, 2)] }, gate.promise),
      stageOf(path, await database()),
    );
    const root = await on.start();
    await until(async () => (await members(on, root.id)).length === 4, 'two grandchildren');
    const mid = await on.agent('mid');
    const killed = await on.runtime.kill(mid.id);
    gate.resolve();
    const { agents } = await on.runtime.settled(root.id);
    const dead = (await members(on, root.id)).filter((agent) => agent.state.type === 'killed');
    assert.deepEqual(killed.toSorted(), dead.map((agent) => agent.id).toSorted());
    assert.equal(dead.length, 3);
    assert.equal(agents.filter((agent) => agent.state.type === 'killed').length, 3);
    for (const agent of dead) assert.deepEqual(await on.store.waiters(agent.id), []);
    assert.equal((await on.store.tree(root.id))?.live, 1);
    await assertCounted(on, root.id);
  });

  for (const [limit, value, said] of [
    ['tokens', 12, /limit "tokens" of the tree reached: 12 of 12 tokens used\. .*--limit tokens=\d+\)/],
    ['cost_usd', 0.5, /limit "cost" of the tree reached: \$0\.5 of \$0\.5 used\. .*--limit cost=\d+\)/],
  ] as const)
    it(`with the ${limit} of the tree used up no child is created, and the creator answers for the last time`, async () => {
      const on = await setStage(playOf(path, { main: [many(path, 3)] }), {
        ...stageOf(path, await database()),
        cost_usd: 0.5,
      });
      const { root, agents } = await on.perform('go', { [limit]: value });
      assert.equal(agents.length, 1);
      for (const { output } of await on.results(root))
        assert.match(output, /LIMIT_REACHED.*nothing is left of your budget: /);
      assert.match(root.state.type === 'idle' ? (root.state.limit ?? '') : '', said);
      assert.equal(on.requests.length, 2);
    });

  it('usage of children is counted for them and for the tree', async () => {
    const on = await setStage(playOf(path, { main: [many(path, 3)] }), {
      ...stageOf(path, await database()),
      cost_usd: 0.25,
    });
    const { root } = await on.perform();
    const agents = await members(on, root.id);
    const tree = await on.store.tree(root.id);
    assert.equal(agents.length, 4);
    for (const agent of agents) {
      const requests = await on.store.requests(agent.id);
      assert.ok(requests.length > 0);
      assert.equal(agent.usage.input + agent.usage.output, 12 * requests.length);
    }
    const used = agents.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
    assert.equal(tree?.tokens, used);
    assert.equal(used, 12 * on.requests.length);
    assert.equal(tree?.cost_usd, 0.25 * on.requests.length);
  });

  it('permissions only narrow from parent to child, whatever a profile asks for', async () => {
    const wanted = path.profiled?.('greedy') ?? path.call(0);
    const options = stageOf(path, await database());
    const on = await setStage(playOf(path, { main: [[path.mid('strict')]], mid: [[wanted]] }), {
      ...options,
      tools: createBuiltInTools(),
      terms: {
        ...options.terms,
        profiles: new Map([
          ['strict', STRICT],
          ['greedy', GREEDY],
        ]),
      },
      config: {
        tools: ['read', 'think'],
        turns: 5,
        run_ms: 60_000,
        permissions: { cli: NONE, config: { allow: ['read', 'think'], ask: [], deny: ['read:secrets/**'] } },
      },
    });
    const { root } = await on.perform();
    const mid = await on.agent('mid');
    const [created] = (await members(on, root.id)).filter((agent) => agent.parent_id === mid.id);
    assert.ok(created !== undefined);
    assertNarrower(mid.config, root.config);
    assertNarrower(created.config, mid.config);
    assert.deepEqual(mid.config.tools, ['read']);
    assert.equal(decide(policyOf(created.config), permissionOf('read'), 'private/diary').verdict, 'deny');
    assert.equal(decide(policyOf(created.config), permissionOf('read'), 'src/a.ts').verdict, 'allow');
    for (const { agent, tools } of on.requests)
      if (agent.id === created.id)
        for (const { name } of tools) assert.notEqual(name === 'think' || name === 'write', true, name);
  });
}

/** Tests that a wait beside a blocking creation that would close a cycle ends at once and says so, and that the creation continues (law 10). */
function blockingSuite(path: CreationPath, database: Database): void {
  it('a wait that would close a cycle through the creator ends at once, and the child is still awaited', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    const on = await setStage(
      async (scene) => {
        if (scene.name === 'mid')
          return scene.step === 0 ? [['wait', { timeout: 60, from_agents: ['main'] }]] : 'done';
        if (scene.name !== 'main') {
          await gate.promise;
          return path.end;
        }
        if (scene.step === 0) return [path.mid()];
        if (scene.step > 1) return 'done';
        await waiting.promise;
        return [path.call(0), ['wait', { timeout: 30, from_agents: ['mid'] }]];
      },
      stageOf(path, await database()),
    );
    const root = await on.start();
    await until(async () => (await on.store.waiters(root.id)).length === 1, 'mid waits for main');
    waiting.resolve();
    const ended = async () => (await on.results(root)).find((result) => result.name === 'wait');
    await until(async () => (await ended()) !== undefined, 'the wait has ended');
    assert.match((await ended())?.output ?? '', /"name":"mid","status":"waits_for_you"/);
    const created = async () => (await members(on, root.id)).find((agent) => agent.origin === path.origin);
    await until(
      async () => (await on.store.waiters((await created())?.id ?? root.id)).includes(root.id),
      'the root waits for its child',
    );
    gate.resolve();
    const outcome = await on.runtime.settled(root.id);
    assert.equal(outcome.reply, 'done');
    assert.ok(
      outcome.agents.every((agent) => agent.state.type === 'idle' || agent.state.type === 'completed'),
    );
  });
}

function startSuite(database: Database): void {
  it('start: a root has its own tree, is counted, is led here, and is ended by a kill', async () => {
    const on = await setStage(() => new Promise(() => undefined), { database: await database() });
    const root = await on.start();
    const [worker] = await on.store.workers();
    const { parent_id, root_id, depth, epoch } = root;
    assert.deepEqual(
      { parent_id, root_id, depth, epoch, worker: root.worker },
      { parent_id: null, root_id: root.id, depth: 0, epoch: 1, worker: worker?.id },
    );
    await assertCounted(on, root.id);
    await until(async () => (await on.agent('main')).state.type === 'requesting', 'it works');
    assert.deepEqual(await on.runtime.kill(root.id), [root.id]);
    assert.equal((await on.runtime.settled(root.id)).failure?.kind, 'killed');
    await assertCounted(on, root.id);
  });

  it('start: fifty concurrent starts in two runtimes make fifty separately counted trees', async () => {
    const shared = (await database()) ?? `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
    const stages = [
      await setStage(() => 'done', { database: shared }),
      await setStage(() => 'done', { database: shared }),
    ];
    const started = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const on = stages[index % 2] as Stage;
        return { on, root: await on.start('go', { total: 1, live: 1 }) };
      }),
    );
    for (const { on, root } of started) {
      const { agents, reply } = await on.runtime.settled(root.id);
      assert.equal(reply, 'done');
      assert.deepEqual(
        agents.map((agent) => agent.id),
        [root.id],
      );
      await assertCounted(on, root.id);
    }
    assert.equal(new Set(started.map(({ root }) => root.id)).size, CALLS);
  });

  it('start: the token limit of the tree also stops the root, before its next request', async () => {
    const on = await setStage(() => [['wait', { timeout: 0 }]], { database: await database() });
    // The second request is the last one: the remaining tokens do not suffice for another.
    const { root } = await on.perform('go', { tokens: 24 });
    assert.match(
      root.state.type === 'idle' ? (root.state.limit ?? '') : '',
      /12 of 24 tokens used, and the rest suffices for one/,
    );
    assert.equal(on.requests.length, 2);
  });

  it('start: a limit that is not a number is refused; an unspecified one has its default', async () => {
    const on = await setStage(() => 'done', { database: await database() });
    const before = (await on.store.agents({ conversations: true })).length;
    for (const bad of [{ depth: Number.NaN }, { children: -1 }, { live: 0 }, { total: 0.5 }, { tokens: -1 }])
      await assert.rejects(on.start('go', bad), { code: 'E_INVALID_ARGUMENT' }, JSON.stringify(bad));
    await assert.rejects(on.start('go', { dept: 3 } as Partial<Limits>), { code: 'E_INVALID_ARGUMENT' });
    assert.equal((await on.store.agents({ conversations: true })).length, before);
    const unsaid = { depth: undefined, children: undefined } as unknown as Partial<Limits>;
    const root = await on.start('go', unsaid);
    const { limits } = (await on.store.tree(root.id)) ?? {};
    assert.deepEqual([limits?.depth, limits?.children], [DEFAULT_LIMITS.depth, DEFAULT_LIMITS.children]);
  });
}

function suite(database: Database, paths: readonly CreationPath[]): void {
  for (const path of paths)
    describe(path.name, () => {
      pathSuite(path, database);
      if (path.blocks) blockingSuite(path, database);
    });

  it('spawn_agents: more tasks than a limit admits create nothing, and the refusal says so', async () => {
    const path = CREATION_PATHS.find(({ origin }) => origin === 'spawn') as CreationPath;
    const tasks = Array.from({ length: CALLS }, (_, index) => ({ task: `task ${index}` }));
    for (const [limits] of LIMITS) {
      const on = await setStage(
        playOf(path, { main: [[['spawn_agents', { tasks }]]] }),
        stageOf(path, await database()),
      );
      const { root, agents } = await on.perform('go', limits);
      const [result] = await on.results(root);
      assert.equal(agents.length, 1);
      assert.match(result?.output ?? '', /LIMIT_REACHED/);
      if (limits.depth === undefined)
        assert.match(
          result?.output ?? '',
          /50 more were asked for; none was created\. Ask for at most \d+ at once\..*--limit/,
        );
      await assertCounted(on, root.id);
      await on.close();
    }
  });

  startSuite(database);
}

alwaysOnBothDatabases('creation paths', (database, kind) => {
  // The paths differ only above the ledger, so one of them suffices for the second database.
  const paths = kind === 'SQLite' ? CREATION_PATHS : CREATION_PATHS.slice(0, 1);
  let shared: ReturnType<Database> | null = null;
  const once = () => {
    shared ??= database();
    return shared;
  };
  suite(once, paths);
});
