import assert from 'node:assert/strict';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Scenario } from './every-order.ts';
import {
  type Family,
  type FamilyOptions,
  family,
  fork,
  heard,
  type Parts,
  TIMEOUT_MS,
  waitFor,
  waitForAny,
  write,
} from './ordered-family.ts';
import type { World } from './ordered-world.ts';

/** A way in which the root waits for `b`, and what it learns of `b`. */
interface Join {
  readonly parts: Parts;
  readonly options: FamilyOptions;
  /** What the root has been told when `b` has done its part. */
  readonly heard: RegExp;
  /** Acts that are left out, because after them only the timeout ends this join. */
  readonly not?: readonly string[];
  readonly begin?: (world: World, one: Family, b: Agent) => void;
}

const CHILD = { b: ['report'] };
const LETTER = { b: [[write('main', 'letter')], 'report'] };

/** Every way to wait for an agent. */
const JOINS: Readonly<Record<string, Join>> = {
  'a wait for it': {
    parts: { main: [[fork('b')], [waitFor('b')], 'done'], ...CHILD },
    options: { asked: 3 },
    heard: /report/,
  },
  'a wait for anyone': {
    parts: { main: [[fork('b')], [waitForAny], 'done'], ...LETTER },
    options: { asked: 3 },
    heard: /letter/,
    // Nobody would send a letter.
    not: ['the child is killed', 'somebody interrupts the root'],
  },
  "a person's wait": {
    parts: { main: [[fork('b')], 'done'], ...CHILD },
    options: {},
    heard: /"event":"waited".*report|interrupt it first/,
    begin: (world, { on, root }, b) =>
      world.may('a person waits', 'left', () => on.runtime.wait(root.id, TIMEOUT_MS, [b.id])),
  },
  'a fan-in': {
    parts: {
      main: [[['spawn_agents', { tasks: [{ task: 'b', label: 'b' }] }]], 'done'],
      b: [[['submit_result', { result: 'report' }]]],
    },
    options: { toolsets: ['fanout'], asked: 2 },
    heard: /report/,
  },
  'an announcement': {
    parts: { main: [[['sessions_spawn', { task: 'b', label: 'b' }]], 'done'], ...CHILD },
    options: { toolsets: ['sessions'], asked: 3 },
    heard: /report/,
  },
  'a delegated call': {
    parts: { main: [[['subagent_spawn', { task: 'b', description: 'b' }]], 'done'], ...CHILD },
    options: { toolsets: ['delegate'], asked: 2 },
    heard: /report/,
  },
};

const TWINS = { b: ['report'], c: ['second'] };
const forks = [fork('b'), fork('c')];

/** Joins of three agents; acts are played on `b`, which another process leads in some scenarios. */
const TRIOS: Readonly<Record<string, Join>> = {
  'a wait for two': {
    parts: { main: [forks, [waitFor('b', 'c')], 'done'], ...TWINS },
    options: { asked: 3 },
    heard: /report.*second/,
  },
  'a wait for anyone of two': {
    parts: {
      main: [forks, [waitForAny], 'done'],
      b: [[write('main', 'letter')], 'report'],
      c: [[write('main', 'letter')], 'second'],
    },
    options: { asked: 3 },
    heard: /letter/,
  },
  'two waits for the same': {
    parts: { main: [forks, [waitFor('b')], 'done'], b: ['report'], c: [[waitFor('b')], 'second'] },
    options: {},
    heard: /report/,
  },
  'a chain of waits': {
    parts: {
      main: [[fork('b')], [waitFor('b')], 'done'],
      b: [[fork('c')], [waitFor('c')], 'report'],
      c: ['second'],
    },
    options: { asked: 3 },
    heard: /report/,
  },
  'a fan-in of two': {
    parts: {
      main: [
        [
          [
            'spawn_agents',
            {
              tasks: [
                { task: 'b', label: 'b' },
                { task: 'c', label: 'c' },
              ],
            },
          ],
        ],
        'done',
      ],
      b: [[['submit_result', { result: 'report' }]]],
      c: [[['submit_result', { result: 'second' }]]],
    },
    options: { toolsets: ['fanout'], asked: 2 },
    heard: /report.*second/,
  },
};
/** The acts that are played on joins of three agents. */
const TRIO_ACTS: ReadonlySet<string> = new Set(['nothing befalls it', 'the child is killed']);

interface Act {
  /** What the root may have been told instead of the child's own end. */
  readonly heard: RegExp;
  readonly may: (world: World, one: Family, b: Agent) => void | Promise<void>;
  /** Whether it is played only with two processes. */
  readonly apart?: true;
  /** Whether orders with a preemption are permitted in `npm test` too; only for a few acts, because few such orders find errors. */
  readonly thorough?: true;
}

const anyone = ({ on, other }: Family) => (on === other ? 'left' : 'right');

/** Asserts that the error is that of a letter to an agent that has ended. */
function tooLate(error: { readonly code?: string }): void {
  assert.equal(error.code, 'E_AGENT_DEAD');
}

/** What can happen to a join at any moment. */
const ACTS: Readonly<Record<string, Act>> = {
  'nothing befalls it': { heard: /^$/, may: () => undefined, thorough: true },
  'the child is killed': {
    heard: /[Kk]illed|dead/,
    may: (world, one, b) => world.may('a person kills b', anyone(one), () => one.other.runtime.kill(b.id)),
  },
  'somebody writes to the child': {
    heard: /^$/,
    may: (world, one, b) =>
      world.may('a person writes to b', anyone(one), () =>
        one.other.runtime.send(b.id, 'more').catch(tooLate),
      ),
  },
  'somebody writes to the root': {
    heard: /"status":"received"/,
    may: (world, { on, root }) =>
      world.may('a person writes to main', 'left', () => on.runtime.send(root.id, 'hurry')),
  },
  'somebody interrupts the root': {
    heard: /[Ii]nterrupted|enough/,
    may: (world, { on, root }) =>
      world.may('a person interrupts main', 'left', () => on.runtime.interrupt(root.id, 'enough')),
  },
  'the time of waits is over': {
    heard: /timed_out|timeout/,
    may: (world) => world.mayPass('left', TIMEOUT_MS),
  },
  'it is given up while it is parked': {
    heard: /^$/,
    may: async (world, { on, root }) => {
      await world.store.serveTree(root.id);
      world.may('left gives the tree up', 'left', () => on.runtime.release(root.id));
      world.serves(on);
    },
    apart: true,
    thorough: true,
  },
  'the other process takes all of it over': {
    heard: /^$/,
    may: (world, { on, other, root }) => {
      world.may('right takes over', 'right', async () => {
        await world.store.release(on.runtime.worker_id);
        await other.runtime.resume(root.id);
      });
    },
    apart: true,
  },
};

function scenario(join: Join, act: Act, apart: boolean): Scenario {
  return async (world) => {
    const one = await family(world, join.parts, { ...join.options, ...(apart ? { apart: 'b' } : {}) });
    const b = await world.agent('b', one.root.id);
    join.begin?.(world, one, b);
    await act.may(world, one, b);
    return async () => {
      const text = await heard(one);
      assert.ok(join.heard.test(text) || act.heard.test(text), text);
    };
  };
}

export interface JoinScenario {
  readonly title: string;
  readonly scenario: Scenario;
  /** Selects the bounds where not all orders are played; `few` for joins of three agents, which have many orders. */
  readonly share: 'thorough' | 'usual' | 'few';
}

/** Each join with each act, in one process and in two. */
export const SCENARIOS: readonly JoinScenario[] = [
  ...Object.entries(JOINS),
  ...Object.entries(TRIOS),
].flatMap(([what, join]) =>
  Object.entries(ACTS).flatMap(([befalls, act]) =>
    [false, true].flatMap((apart) =>
      (act.apart && !apart) || join.not?.includes(befalls) || (what in TRIOS && !TRIO_ACTS.has(befalls))
        ? []
        : {
            title: `${what}, ${apart ? 'two processes' : 'one process'}: ${befalls}`,
            scenario: scenario(join, act, apart),
            share: what in TRIOS ? 'few' : act.thorough ? 'thorough' : 'usual',
          },
    ),
  ),
);
