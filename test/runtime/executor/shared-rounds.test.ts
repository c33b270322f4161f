// Proves that a tree with many ready agents shares the rounds of the group commit with other trees but has them to itself when it is alone; and that a
// tree that exceeds its share delays only itself.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { Step } from '../../../src/kernel/step.ts';
import { TreeShares } from '../../../src/runtime/executor/tree-shares.ts';
import { type RuntimeClock, SYSTEM_RUNTIME_CLOCK } from '../../../src/runtime/runtime-clock.ts';
import { closeOpened } from '../../close-opened.ts';
import { type Scene, setStage } from '../stage.ts';

afterEach(closeOpened);

const MANY = 40;
/** Simulated duration of each step of a commit. */
const STEP_MS = 2;
/** Three times the number of steps that fit into a tree's 10 ms burst beside other trees, because the duration of a step is estimated. */
const AT_ONCE = (3 * 10) / STEP_MS;

/**
 * For each commit after all models were asked, the trees of its steps; all answers of the large tree's children and of `guests` come at the same instant, and the
 * guests are at work until all have been taken.
 */
async function roundsWith(guests: readonly string[]): Promise<string[][]> {
  const { promise: all_ask, resolve: answerAll } = Promise.withResolvers<void>();
  const { promise: many_stepped, resolve: answerGuests } = Promise.withResolvers<void>();
  let asking = 0;
  let now_ms = 0;
  const clock: RuntimeClock = {
    ...SYSTEM_RUNTIME_CLOCK,
    lap: () => now_ms,
    // Time advances only by steps and pauses, so the speed of the machine does not matter.
    after: (ms, ring) =>
      SYSTEM_RUNTIME_CLOCK.after(ms, () => {
        now_ms += ms;
        ring();
      }),
  };
  const play = async ({ name, user, step }: Scene) => {
    if (user === 'many' && step === 0)
      return Array.from(
        { length: MANY },
        (_, index) => ['fork', { name: `c${index}`, prompt: 'go' }] as const,
      );
    if (!name.startsWith('c') && !guests.includes(user)) return 'done';
    if (step > 0) return many_stepped.then(() => 'done');
    asking += 1;
    if (asking === MANY + guests.length) answerAll();
    await all_ask;
    return guests.includes(user) ? [['no_such_tool', {}] as const] : 'done';
  };
  const on = await setStage(play, { clock });
  const rounds: string[][] = [];
  const commit = on.store.commit.bind(on.store);
  const trees = new Map<string, string>();
  on.store.commit = async (steps: readonly Step[]) => {
    const verdicts = await commit(steps);
    now_ms += steps.length * STEP_MS;
    for (const { agent_id } of steps)
      if (!trees.has(agent_id)) trees.set(agent_id, (await on.store.agent(agent_id))?.root_id ?? '');
    if (asking === MANY + guests.length) rounds.push(steps.map(({ agent_id }) => trees.get(agent_id) ?? ''));
    if (rounds.flat().length >= MANY) answerGuests();
    return verdicts;
  };
  const room = { children: MANY, live: MANY + 1, total: MANY + 1 };
  const roots = [await on.start('many', room)];
  for (const guest of guests) roots.push(await on.start(guest));
  for (const { id } of roots) await on.runtime.settled(id);
  const names = new Map(roots.map(({ id }, index) => [id, index === 0 ? 'many' : 'guest']));
  return rounds.map((round) => round.map((root) => names.get(root) ?? ''));
}

const count = (round: readonly string[], tree: string) => round.filter((one) => one === tree).length;

for (const guests of [['guest'], ['guest', 'guest too']])
  it(`beside others, ${guests.length}: as many steps as fit into its share`, async () => {
    const rounds = await roundsWith(guests);
    const largest = Math.max(...rounds.map((round) => count(round, 'many')));
    assert.ok(largest <= AT_ONCE, `${largest} steps`);
    assert.ok(rounds.reduce((sum, round) => sum + count(round, 'many'), 0) >= MANY, 'none is forgotten');
  });

it('alone: all of it at once', async () => {
  const rounds = await roundsWith([]);
  assert.ok(rounds.some((round) => count(round, 'many') >= MANY));
});

const stepOf = (root_id: string, text = '') => ({
  root_id,
  step: { messages: [{ kind: 'user', content: { origin: 'human', text } }], create: [] } as unknown as Step,
});

it('a tree that uses more than its share waits, the others never, and alone it goes on at once', () => {
  let now = 0;
  const shares = new TreeShares(() => now);
  const trees = ['hog', 'a', 'b', 'c'];
  const waited = new Map(trees.map((tree) => [tree, 0]));
  let hog_ms = 0;
  for (let round = 0; round < 1_000; round += 1) {
    const { steps } = shares.admit(trees);
    for (const tree of trees) if (!steps.has(tree)) waited.set(tree, (waited.get(tree) ?? 0) + 1);
    const took_ms = steps.has('hog') ? 23 : 3;
    if (steps.has('hog')) hog_ms += 20;
    now += took_ms;
    shares.charge(
      [...steps.keys()].map((tree) => stepOf(tree, tree === 'hog' ? 'x'.repeat(570_000) : '')),
      took_ms,
    );
  }
  const { hog, ...others } = Object.fromEntries(waited);
  assert.ok((hog ?? 0) > 500, `it waited ${hog} times`);
  assert.deepEqual(others, { a: 0, b: 0, c: 0 });
  assert.ok(hog_ms / now > 0.2 && hog_ms / now < 0.3, `${hog_ms} of ${now} ms`);
  now += 251;
  assert.deepEqual(shares.admit(['hog']), {
    steps: new Map([['hog', Number.POSITIVE_INFINITY]]),
    wait_ms: 0,
  });
});

it('a tree beside others that have come to rest is alone, at once', () => {
  let now = 0;
  const at_rest = new Set<string>();
  const shares = new TreeShares(
    () => now,
    (root_id) => !at_rest.has(root_id),
  );
  shares.admit(['hog', 'a', 'b']);
  now += 60;
  shares.charge([stepOf('hog')], 60);
  at_rest.add('a');
  assert.equal(shares.admit(['hog']).steps.size, 0, 'one of them is still at work');
  at_rest.add('b');
  assert.deepEqual(shares.admit(['hog']), {
    steps: new Map([['hog', Number.POSITIVE_INFINITY]]),
    wait_ms: 0,
  });
});

it('where none may go on, it says how long until one may', () => {
  let now = 0;
  const shares = new TreeShares(() => now);
  shares.admit(['hog', 'a', 'b']);
  now += 60;
  shares.charge([stepOf('hog')], 60);
  const { steps, wait_ms } = shares.admit(['hog']);
  assert.equal(steps.size, 0);
  now += wait_ms - 2;
  assert.ok(shares.admit(['hog']).wait_ms > 0);
  now += 2;
  assert.deepEqual([...shares.admit(['hog']).steps.keys()], ['hog']);
});

it('a tree in whose round the ledger was out of reach for a minute goes on soon', () => {
  let now = 0;
  const shares = new TreeShares(() => now);
  shares.admit(['unlucky', 'a']);
  now += 60_000;
  shares.charge([stepOf('unlucky')], 60_000);
  shares.admit(['unlucky', 'a']);
  const { wait_ms } = shares.admit(['unlucky']);
  assert.ok(wait_ms < 250, `it waits ${wait_ms} ms`);
});
