// Proves that no join sleeps through what it waits for: in every order in which rounds, commits, answers of models and acts of people can follow one another,
// nobody is at work when nothing can happen any more, and a wait shows what came of what it waited for. Time stands still, so a wait that only its timeout would
// end never ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { type Line, type Play, parsed, type Scene, type Stage, type StageOptions } from '../stage.ts';
import { everyOrder } from './every-order.ts';
import type { World } from './ordered-world.ts';

type Part = (scene: Scene) => Line;
type Parts = Readonly<Record<string, readonly (Line | Part)[]>>;
type Row = Readonly<Record<string, string | undefined>>;

const HOUR = 3_600_000;
const fork = (name: string) => ['fork', { name, prompt: `be ${name}` }] as const;
const waitFor = (...from: string[]) => ['wait', { timeout: 600, from_agents: from }] as const;
const waitForAny = ['wait', { timeout: 600 }] as const;
const write = (to: string, message = 'more') => ['send', { to, message }] as const;
const fails: Part = () => {
  throw new Error('no answer');
};

/** Each says its lines one after the other, the last one again and again. */
function cast(parts: Parts): Play {
  return (scene) => {
    const lines = parts[scene.name] ?? ['done'];
    const line = lines[Math.min(scene.step, lines.length - 1)] as Line | Part;
    return typeof line === 'function' ? line(scene) : line;
  };
}

interface Family {
  readonly on: Stage;
  readonly root: Agent;
}

/** A root that has given its first answer; the orders part with its second, until it is asked for the `asked`th time. */
async function family(
  world: World,
  parts: Parts,
  { asked = 3, ...options }: StageOptions & { readonly asked?: number } = {},
): Promise<Family> {
  const on = await world.process('p', cast(parts), options);
  const root = await on.start();
  await world.cue('main');
  world.decidedWhen(() => requests(on) >= asked);
  return { on, root };
}

function requests(on: Stage, name = 'main'): number {
  return on.requests.filter(({ agent }) => agent.name === name).length;
}

/** What the newest wait of a model showed, without ids and names. */
async function waited({ on, root }: Family): Promise<Row[]> {
  const last = (await on.results(root)).findLast(({ name }) => name === 'wait');
  return (parsed(last).results as Row[]).map(({ agent_id: _, name: __, ...row }) => row);
}

async function heard(on: Stage, agent: Agent): Promise<string> {
  return JSON.stringify(await on.store.history(agent.id));
}

describe('every order of a wait', () => {
  const ends: Readonly<Record<string, { readonly b: Parts[string]; readonly row: Row }>> = {
    'says its last word': { b: ['report'], row: { status: 'idle', last_reply: 'report' } },
    'writes, and rests': {
      b: [[write('main', 'letter')], 'report'],
      row: { status: 'received', message: 'letter' },
    },
    fails: { b: [fails], row: { status: 'idle', error: 'no answer' } },
  };
  for (const [title, { b, row }] of Object.entries(ends))
    it(`the child ${title}`, async () => {
      const orders = await everyOrder(async (world) => {
        const one = await family(world, { main: [[fork('b')], [waitFor('b')], 'done'], b });
        return async () => assert.deepEqual(await waited(one), [row]);
      });
      assert.ok(orders >= 7, `only ${orders} orders`);
    });

  it('three children, each with a last word', async () => {
    await everyOrder(async (world) => {
      const forks = ['a', 'b', 'c'].map(fork);
      const one = await family(world, {
        main: [forks, [waitFor('a', 'b', 'c')], 'done'],
        a: ['report'],
        b: ['report'],
        c: ['report'],
      });
      world.alike('a', 'b', 'c');
      const row = { status: 'idle', last_reply: 'report' };
      return async () => assert.deepEqual(await waited(one), [row, row, row]);
    });
  });

  it('the next message from anyone', async () => {
    await everyOrder(async (world) => {
      const { on, root } = await family(world, {
        main: [[fork('b')], [waitForAny], 'done'],
        b: [[write('main', 'letter')], 'report'],
      });
      return async () => assert.match(await heard(on, root), /letter/);
    });
  });

  const acts: Readonly<Record<string, (on: Stage, b: Agent) => unknown>> = {
    kills: (on, b) => on.runtime.kill(b.id),
    'writes to': (on, b) => on.runtime.send(b.id, 'more'),
  };
  for (const [title, act] of Object.entries(acts))
    it(`a person ${title} the child`, async () => {
      await everyOrder(async (world) => {
        const one = await family(world, { main: [[fork('b')], [waitFor('b')], 'done'], b: ['report'] });
        const b = await one.on.agent('b');
        world.may(`a person ${title} b`, 'p', () => act(one.on, b));
        return async () => {
          const [row] = await waited(one);
          const killed = title === 'kills' && row?.status === 'dead';
          assert.ok(killed || row?.last_reply === 'report', JSON.stringify(row));
        };
      });
    });

  for (const [title, breaks, error] of [
    ['rests', false, undefined],
    ['has failed', true, 'no answer'],
  ] as const)
    it(`a letter in the same message wakes a child that ${title}, whichever stands first`, async () => {
      for (const calls of [
        [write('b'), waitFor('b')],
        [waitFor('b'), write('b')],
      ])
        await everyOrder(async (world) => {
          const main = cast({ main: [[fork('b')], [waitFor('b')], calls, 'done'] });
          const on: Stage = await world.process('p', (scene) => {
            if (scene.name === 'main') return main(scene);
            if (requests(on, 'b') > 1) return 'new';
            return breaks ? fails(scene) : 'old';
          });
          const root = await on.start();
          for (const name of ['main', 'b', 'main']) await world.cue(name);
          assert.equal((await waited({ on, root }))[0]?.error, error);
          world.decidedWhen(() => requests(on) > 3);
          return async () =>
            assert.deepEqual(await waited({ on, root }), [{ status: 'idle', last_reply: 'new' }]);
        });
    });
});

describe('every order of other joins', () => {
  it('a person waits for an agent', async () => {
    await everyOrder(async (world) => {
      const { on, root } = await family(world, { main: [[fork('b')], 'done'], b: ['report'] });
      await world.cue('main');
      const b = await on.agent('b');
      world.may('a person waits', 'p', () => on.runtime.wait(root.id, HOUR, [b.id]));
      return async () => assert.match(await heard(on, root), /"event":"waited".*report/);
    });
  });

  const spawned: Readonly<
    Record<
      string,
      { readonly toolset: string; readonly call: readonly [string, unknown]; readonly child: Line }
    >
  > = {
    'a fan-in': {
      toolset: 'fanout',
      call: ['spawn_agents', { tasks: [{ task: 'b', label: 'b' }] }],
      child: [['submit_result', { result: 'report' }]],
    },
    'an announcement': {
      toolset: 'sessions',
      call: ['sessions_spawn', { task: 'b', label: 'b' }],
      child: 'report',
    },
    'a delegated call': {
      toolset: 'delegate',
      call: ['subagent_spawn', { task: 'b', description: 'b' }],
      child: 'report',
    },
  };
  for (const [title, { toolset, call, child: says }] of Object.entries(spawned))
    for (const killed of [false, true])
      it(`${title}, ${killed ? 'the child is killed' : 'the child ends'}`, async () => {
        await everyOrder(async (world) => {
          const { on, root } = await family(
            world,
            { main: [[call], 'done'], b: [says] },
            { toolsets: [toolset], asked: toolset === 'sessions' ? 3 : 2 },
          );
          if (killed) {
            const b = await on.agent('b');
            world.may('a person kills b', 'p', () => on.runtime.kill(b.id));
          }
          return async () => assert.match(await heard(on, root), killed ? /report|[Kk]illed/ : /report/);
        });
      });
});

/** The root is led by one process, an agent `mid` by another; the orders part when the root has been asked for the first time. */
async function shared(world: World, parts: Parts, asked: number): Promise<Family & { readonly mid: Agent }> {
  const [left, on] = [await world.process('left', cast(parts)), await world.process('right', cast(parts))];
  const { store } = world;
  const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
  await store.heartbeat(holder);
  const resting = {
    config: { ...CONFIG, model: 'play/actor', toolsets: ['process'] },
    state: { type: 'idle' },
  } as const;
  const root = await newRoot(store, {}, { ...resting, name: 'main', worker: holder.id });
  world.owns(root.id);
  const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
  await left.runtime.resume(root.id);
  await store.release(holder.id);
  await on.runtime.resume(root.id);
  await on.runtime.send(root.id, 'begin');
  world.decidedWhen(() => requests(on) >= asked);
  return { on, root, mid };
}

describe('every order of a wait for an agent that another process leads', () => {
  it('it rests', async () => {
    await everyOrder(async (world) => {
      const parts = { main: [[write('mid')], [waitFor('mid')], 'done'], mid: ['report'] };
      const one = await shared(world, parts, 3);
      await world.cue('main');
      return async () => assert.deepEqual(await waited(one), [{ status: 'idle', last_reply: 'report' }]);
    });
  });

  for (const [title, before] of [
    ['has done nothing yet', []],
    ['rests', ['old']],
    ['has failed', [fails]],
  ] as const)
    it(`a letter in the same message wakes one that ${title}`, async () => {
      await everyOrder(async (world) => {
        const first = before.length === 0 ? [] : [[write('mid')], [waitFor('mid')]];
        const main = [...first, [waitFor('mid'), write('mid')], 'done'];
        const lines: (Line | Part)[] = [...before, 'new'];
        const mid: Part = (scene) => {
          const line = lines.shift() ?? 'too much';
          return typeof line === 'function' ? line(scene) : line;
        };
        const one = await shared(world, { main, mid: [mid] }, main.length);
        if (before.length > 0) for (const name of ['main', 'main', 'mid']) await world.cue(name);
        // The letter lies there, and the second look of the one that waits comes when it comes.
        world.hold('left', 'right asks');
        await world.cue('main');
        return async () => assert.deepEqual(await waited(one), [{ status: 'idle', last_reply: 'new' }]);
      });
    });
});
