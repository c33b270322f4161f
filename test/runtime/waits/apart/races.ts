import assert from 'node:assert/strict';
import type { Agent } from '../../../../src/records/agent/agent.ts';
import { until } from '../../../until.ts';
import { type Line, parsed } from '../../stage.ts';
import { spawn } from '../../toolsets/sessions-play.ts';
import { fork, TIMEOUT_MS, waitFor, waitForAny, write } from '../ordered-family.ts';
import type { LedgerCall, Point } from './leader.ts';
import type { LeaderProcess } from './leader-process.ts';
import type { SharedTree, Tree, TwoLeaders } from './two-leaders.ts';

/** A write to the ledger by one process, and the action that causes it. */
interface Move {
  readonly call: LedgerCall;
  readonly begin: (leader: LeaderProcess) => Promise<void>;
}

/** Which write commits last; or which process lacks the acknowledgement of its own write while the other commits or the join ends; or both at once. */
export const ORDERS = [
  'the left last',
  'the right last',
  'the left has not heard',
  'the right has not heard',
  'both at once',
] as const;
export type RaceOrder = (typeof ORDERS)[number];

export interface Race extends SharedTree {
  readonly title: string;
  readonly ready?: (on: TwoLeaders, tree: Tree) => Promise<void>;
  readonly moves: (tree: Tree) => Readonly<Record<'left' | 'right', Move>>;
  /** Resolves when the join has ended as it should. */
  readonly over: (on: TwoLeaders, tree: Tree) => Promise<void>;
}

export const answers = (id: string, said: Line, what: LedgerCall['what'] = 'rests'): Move => ({
  call: { what, id },
  begin: (leader) => leader.answer(id, said),
});

export async function play(race: Race, order: RaceOrder, on: TwoLeaders): Promise<void> {
  const tree = await on.tree(race);
  await race.ready?.(on, tree);
  const moves = race.moves(tree);
  const held = order.startsWith('the left') ? 'left' : 'right';
  const free = held === 'left' ? 'right' : 'left';
  const acts: Promise<void>[] = [];
  const begin = async (side: 'left' | 'right', point: Point) => {
    const { call, begin } = moves[side];
    const hold = on[side].hold(call, point);
    acts.push(begin(on[side]));
    await hold.reached;
    return hold;
  };
  const lands = async (side: 'left' | 'right') => (await begin(side, 'acknowledged')).go();
  try {
    if (order === 'the right has not heard') {
      await lands('left');
      await begin('right', 'acknowledged');
    } else if (order === 'both at once') {
      for (const hold of [await begin('left', 'before'), await begin('right', 'before')]) hold.go();
    } else {
      // In both cases this write is decided before the other one is in the ledger.
      const hold = await begin(held, order.endsWith('last') ? 'before' : 'acknowledged');
      await lands(free);
      hold.go();
    }
    await race.over(on, tree);
    on[held].go();
    await Promise.all(acts);
  } finally {
    await on.clear();
  }
}

type Row = Readonly<Record<string, unknown>>;

async function rows(on: TwoLeaders, id: string): Promise<Row[]> {
  const { last } = await on.left.asked(id);
  return (parsed(last.at(-1)).results as Row[]).map(({ agent_id: _, name: __, did: ___, ...row }) => row);
}

/** What happens to an agent `b`, and the row that a wait for it shows. */
const ACTS: Readonly<
  Record<string, { readonly move: (id: string) => Move; readonly row: Row; readonly run?: true }>
> = {
  rests: { move: (id) => answers(id, 'report'), row: { status: 'idle', last_reply: 'report' } },
  ends: { move: (id) => answers(id, 'report'), row: { status: 'dead' }, run: true },
  'is killed': {
    move: (id) => ({ call: { what: 'kill', id }, begin: (leader) => leader.act('kill', id) }),
    row: { status: 'dead', error: 'Killed by a person' },
  },
  fails: {
    move: (id) => answers(id, { text: '', finish: 'refused', reason: 'no answer' }),
    row: { status: 'idle', error: 'a content filter of the provider blocked the answer (no answer)' },
  },
  writes: {
    move: (id) => answers(id, [write('main', 'letter')], 'sends'),
    row: { status: 'received', message: 'letter' },
  },
  'is interrupted': {
    move: (id) => ({
      call: { what: 'rests', id },
      begin: async (leader) => {
        await leader.asked(id);
        await leader.act('interrupt', id, 'enough');
      },
    }),
    row: { status: 'idle' },
  },
};

const waits = Object.entries(ACTS).flatMap(([befalls, { move, row, run }]): Race[] => {
  const common: SharedTree = {
    beginnings: { main: [[run ? spawn('b', { label: 'b' }) : fork('b')]] },
    names: ['b'],
    apart: ['b'],
  };
  return [
    {
      ...common,
      title: `a wait for one that ${befalls}`,
      moves: ({ main, b }) => ({ left: answers(main.id, [waitFor(b.id)], 'parks'), right: move(b.id) }),
      over: async (on, { main }) => {
        assert.deepEqual(await rows(on, main.id), [row]);
      },
    },
    {
      ...common,
      title: `a wait for anyone, of whom one ${befalls}`,
      moves: ({ main, b }) => ({ left: answers(main.id, [waitForAny], 'parks'), right: move(b.id) }),
      over: async (on, { main }) => {
        // A letter or a report ends this wait, or that nobody works any more.
        const is_told = row.last_reply !== undefined || row.error !== undefined;
        // The end of a run and an interrupt are told to nobody: they are found by a look at the tree, at the latest with the next mail.
        const is_found = befalls !== 'writes' && !is_told;
        if (is_found) await on.right.act('send', main.id, 'letter');
        const { last } = await on.left.asked(main.id);
        const { status, message, last_reply, error } = parsed(last.at(-1));
        if (is_told) assert.deepEqual([status, last_reply, error], ['idle', row.last_reply, row.error]);
        else if (befalls === 'writes') assert.deepEqual([status, message], ['received', 'letter']);
        else assert.match(String(status), /^(nobody_works|received)$/);
      },
    },
  ];
});

/** Asserts that the model of this agent receives a text that matches. */
export async function assertTold(leader: LeaderProcess, id: string, text: RegExp): Promise<void> {
  const { last, user } = await leader.asked(id);
  assert.match(JSON.stringify([last, user]), text);
}

/** Resolves when one of these agents was freed, because another waits for it, or refused; rejects when none was. */
async function freed(...agents: readonly (readonly [LeaderProcess, Agent])[]): Promise<void> {
  await Promise.any(agents.map(([leader, { id }]) => assertTold(leader, id, /waits_for_you|WOULD_DEADLOCK/)));
}

const told =
  (text: RegExp) =>
  ({ left }: TwoLeaders, { main }: Tree) =>
    assertTold(left, main.id, text);
export const submit = (result: string): Line => [['submit_result', { result }]];
export const delegate = (name: string) => ['subagent_spawn', { task: name, description: name }] as const;

const others: readonly Race[] = [
  {
    title: "a person's wait",
    beginnings: { main: [[fork('b')]] },
    names: ['b'],
    apart: ['b'],
    ready: async ({ left, store }, { main }) => {
      await left.answer(main.id, 'done');
      await until(async () => (await store.agent(main.id))?.state.type === 'idle', 'the root rests');
    },
    moves: ({ main, b }) => ({
      left: {
        call: { what: 'parks', id: main.id },
        begin: (leader) => leader.act('wait', main.id, TIMEOUT_MS, [b.id]),
      },
      right: answers(b.id, 'report'),
    }),
    over: ({ store }, { main }) =>
      until(
        async () => /"event":"waited".*report/.test(JSON.stringify(await store.history(main.id))),
        'the wait is over',
      ),
  },
  {
    title: 'two that wait for each other',
    beginnings: { main: [[fork('b')]] },
    names: ['b'],
    apart: ['b'],
    moves: ({ main, b }) => ({
      left: answers(main.id, [waitFor(b.id)], 'parks'),
      right: answers(b.id, [waitFor(main.id)], 'parks'),
    }),
    over: ({ left, right }, { main, b }) => freed([left, main], [right, b]),
  },
  {
    title: 'a wait for whoever writes, of one that has asked',
    beginnings: { main: [[fork('b'), fork('c')]] },
    names: ['b', 'c'],
    apart: ['b'],
    ready: async ({ right, store }, { main, b }) => {
      await right.answer(b.id, [write('main', 'which?')]);
      await until(async () => (await store.mail(main.id)).length > 0, 'it has asked');
    },
    moves: ({ main, b, c }) => ({
      left: answers(main.id, [waitFor(b.id, c.id)], 'parks'),
      right: answers(b.id, [waitForAny], 'parks'),
    }),
    over: ({ left }, { main }) => freed([left, main]),
  },
  ...(['b', 'c'] as const).map(
    (apart): Race => ({
      title: `three that wait for each other in a circle, the first of them led ${apart === 'b' ? 'here' : 'elsewhere'}`,
      beginnings: { main: [[fork('b'), fork('c')]] },
      names: ['b', 'c'],
      apart: apart === 'b' ? ['b'] : ['b', 'c'],
      ready: async (on, { main, c }) => {
        await on[apart === 'b' ? 'left' : 'right'].answer(c.id, [waitFor(main.id)]);
        await until(
          async () => (await on.store.agent(c.id))?.state.type === 'executing',
          'the first of them waits',
        );
      },
      moves: ({ main, b, c }) => ({
        left: answers(main.id, [waitFor(b.id)], 'parks'),
        right: answers(b.id, [waitFor(c.id)], 'parks'),
      }),
      over: (on, { main, b, c }) => {
        // It cannot be freed by a process that waits for an acknowledgement.
        on.right.go();
        return freed([on.left, main], [on.right, b], [on[apart === 'b' ? 'left' : 'right'], c]);
      },
    }),
  ),
  {
    title: 'a fan-in whose last two end',
    beginnings: {
      main: [[['spawn_agents', { tasks: ['b', 'c'].map((name) => ({ task: name, label: name })) }]]],
    },
    names: ['b', 'c'],
    apart: ['b'],
    moves: ({ b, c }) => ({ left: answers(c.id, submit('second')), right: answers(b.id, submit('report')) }),
    over: told(/report.*second/),
  },
  {
    title: 'two delegated calls that end',
    beginnings: { main: [[delegate('b'), delegate('c')]] },
    names: ['b', 'c'],
    apart: ['b'],
    moves: ({ b, c }) => ({ left: answers(c.id, 'second'), right: answers(b.id, 'report') }),
    over: told(/report.*second/),
  },
  {
    title: 'the announcement of a run to one that comes to rest',
    beginnings: { main: [[spawn('b', { label: 'b' })]] },
    names: ['b'],
    apart: ['b'],
    moves: ({ main, b }) => ({ left: answers(main.id, 'done'), right: answers(b.id, 'report') }),
    over: told(/\[Subagent: b\].*report/),
  },
  {
    title: 'a run that is queued, and the end of the one that holds its place',
    // No mail tells the process of the queued run of this end.
    beginnings: { main: [[fork('mid')]], mid: [[spawn('holder', { label: 'holder' })]] },
    names: ['mid', 'holder'],
    apart: ['mid', 'holder'],
    moves: ({ main, holder }) => ({
      left: answers(main.id, [spawn('next', { label: 'next' })], 'creates'),
      right: answers(holder.id, 'report'),
    }),
    over: async ({ left, store }, { main }) => {
      const find = () => store.find('next', main.id);
      await until(async () => (await find()).length > 0, 'it is there');
      const [next] = await find();
      await left.asked(next?.id ?? '');
    },
  },
];

export const RACES: readonly Race[] = [...waits, ...others];
