import { until } from '../../../until.ts';
import type { Line } from '../../stage.ts';
import { spawn } from '../../toolsets/sessions-play.ts';
import { fork, waitFor, write } from '../ordered-family.ts';
import type { LedgerCall, Point } from './leader.ts';
import type { LeaderProcess } from './leader-process.ts';
import { assertTold, delegate, submit } from './races.ts';
import type { Tree, TwoLeaders } from './two-leaders.ts';

/** A root led by `left` that waits for `b`, led by `right`. */
interface Join {
  /** The root's first answer. */
  readonly begins: Line;
  /** The root's second answer, which makes it wait; default: the first one already does. */
  readonly waits?: (b: string) => Line;
  readonly ends: Line;
  readonly told: RegExp;
}

const JOINS: readonly Join[] = [
  {
    begins: [fork('b')],
    waits: (b) => [waitFor(b)],
    ends: 'report',
    told: /"last_reply\\":\\"report/,
  },
  {
    begins: [['spawn_agents', { tasks: [{ task: 'b', label: 'b' }] }]],
    ends: submit('report'),
    told: /report/,
  },
  { begins: [delegate('b')], ends: 'report', told: /report/ },
  {
    begins: [spawn('b', { label: 'b' })],
    waits: () => 'done',
    ends: 'report',
    told: /\[Subagent: b\].*report/,
  },
];

type Four = [string, string, string, string];

interface Waiting {
  readonly join: Join;
  readonly tree: Tree;
}

/** One tree for every join, with the root's first answer given. */
async function trees(on: TwoLeaders): Promise<Waiting[]> {
  const all: Waiting[] = [];
  for (const join of JOINS)
    all.push({
      join,
      tree: await on.tree({ beginnings: { main: [join.begins] }, names: ['b'], apart: ['b'] }),
    });
  return all;
}

async function parks(leader: LeaderProcess, { join, tree: { main, b } }: Waiting): Promise<void> {
  if (join.waits !== undefined) await leader.answer(main.id, join.waits(b.id));
}

async function ends(leader: LeaderProcess, { join, tree: { b } }: Waiting): Promise<void> {
  await leader.answer(b.id, join.ends);
}

/** Resolves when, in the ledger, each of these agents has a parked call or is neither requesting nor executing. */
async function wrote(on: TwoLeaders, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    await until(async () => {
      const state = (await on.store.agent(id))?.state;
      return state?.type === 'executing'
        ? state.running.some(({ wait, child }) => wait !== undefined || child !== undefined)
        : state?.type !== 'requesting';
    }, 'it has written that');
}

const roots = (all: readonly Waiting[]) => all.map(({ tree }) => tree.main.id);
const children = (all: readonly Waiting[]) => all.map(({ tree }) => tree.b.id);

/** One tree for every join, all parked. */
async function parked(on: TwoLeaders): Promise<Waiting[]> {
  const all = await trees(on);
  for (const one of all) await parks(on.left, one);
  await wrote(on, roots(all));
  return all;
}

async function resumes(leader: LeaderProcess, all: readonly Waiting[]): Promise<void> {
  for (const { tree } of all) await leader.act('resume', tree.main.id);
}

async function areTold(leader: LeaderProcess, all: readonly Waiting[]): Promise<void> {
  for (const { join, tree } of all) await assertTold(leader, tree.main.id, join.told);
}

/** Calls during a takeover. */
const MOMENTS = [
  ['claim', 'before'],
  ['claim', 'acknowledged'],
  ['conversations', 'acknowledged'],
] as const;

/** Moments at which one process can die, while the other one continues all joins. Each resolves when all joins have ended as they should. */
export const TAKE_OVERS: Readonly<Record<string, (on: TwoLeaders) => Promise<void>>> = {
  'the process of those that wait dies, and what they wait for ends before, while or after they are taken over':
    async (on) => {
      const [before, after] = [await parked(on), await parked(on)];
      const during: (readonly [LedgerCall['what'], Point, readonly Waiting[]])[] = [];
      for (const [what, point] of MOMENTS) during.push([what, point, await parked(on)]);
      await on.replace('left');
      for (const one of before) await ends(on.right, one);
      await wrote(on, children(before));
      await resumes(on.right, [...before, ...after]);
      for (const one of after) await ends(on.right, one);
      for (const [what, point, all] of during)
        for (const one of all) {
          const hold = on.right.hold({ what, id: one.tree.main.id }, point);
          const resumed = on.right.act('resume', one.tree.main.id);
          await hold.reached;
          await ends(on.right, one);
          await wrote(on, [one.tree.b.id]);
          hold.go();
          await resumed;
        }
      await areTold(on.right, [before, after, ...during.map(([, , all]) => all)].flat());
    },
  'one of three that wait for each other in a circle is taken over, while one of them has a letter that it cannot read':
    async (on) => {
      const names = ['b', 'c', 'd'] as const;
      const tree = await on.tree({ beginnings: { main: [names.map(fork)] }, names, apart: names });
      const [main, b, c, d] = (['main', ...names] as const).map((name) => tree[name].id) as Four;
      // The first to wait is the one that is freed.
      await on.left.answer(main, [waitFor(b)]);
      await wrote(on, [main]);
      await on.replace('left');
      await on.right.answer(d, [write('c', 'no answer to this')]);
      await on.right.answer(d, 'done');
      await wrote(on, [d]);
      await on.right.answer(c, [waitFor(main, d)]);
      await on.right.answer(b, [waitFor(c)]);
      await wrote(on, [b, c]);
      await on.left.act('resume', main);
      await assertTold(on.left, main, /waits_for_you/);
    },
  'their process dies before the ledger has that they wait': async (on) => {
    const [one, ...others] = await trees(on);
    if (one === undefined) return;
    const hold = on.left.hold({ what: 'parks', id: one.tree.main.id }, 'before');
    await parks(on.left, one);
    await hold.reached;
    // The waits of the other trees cannot be written while that commit is held.
    for (const other of others) await parks(on.left, other);
    const all = [one, ...others];
    for (const other of all) await ends(on.right, other);
    await wrote(on, children(all));
    await on.replace('left');
    await resumes(on.right, all);
    await areTold(on.right, all);
  },
  'the process of what they wait for dies before the ledger has its end': async (on) => {
    const all = await parked(on);
    const [one] = all;
    if (one === undefined) return;
    const hold = on.right.hold({ what: 'rests', id: one.tree.b.id }, 'before');
    for (const each of all) await ends(on.right, each);
    await hold.reached;
    await on.replace('right');
    await resumes(on.left, all);
    for (const each of all) await ends(on.left, each);
    await areTold(on.left, all);
  },
  'the process of what they wait for dies as it ends': async (on) => {
    const all = await parked(on);
    for (const one of all) {
      const hold = on.right.hold({ what: 'rests', id: one.tree.b.id }, 'acknowledged');
      await ends(on.right, one);
      await hold.reached;
      if (one !== all.at(-1)) hold.go();
    }
    await on.replace('right');
    await areTold(on.left, all);
  },
};
