// Proves that a tree with many agents ready at once shares the rounds of the group commit with others, and has them for itself alone otherwise.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { Step } from '../../../src/kernel/step.ts';
import { closeOpened } from '../../close-opened.ts';
import { type Scene, setStage } from '../stage.ts';

afterEach(closeOpened);

const MANY = 40;

/** Trees of the steps of each commit in which children of the large tree answer; all answers, and that of `guests`, come at the same instant. */
async function roundsWith(guests: readonly string[]): Promise<string[][]> {
  const { promise: all_ask, resolve: answerAll } = Promise.withResolvers<void>();
  let asking = 0;
  const on = await setStage(async ({ name, user, step }: Scene) => {
    if (user === 'many' && step === 0)
      return Array.from(
        { length: MANY },
        (_, index) => ['fork', { name: `c${index}`, prompt: 'go' }] as const,
      );
    if (!name.startsWith('c') && !guests.includes(user)) return 'done';
    asking += 1;
    if (asking === MANY + guests.length) answerAll();
    await all_ask;
    return 'done';
  });
  const rounds: string[][] = [];
  const commit = on.store.commit.bind(on.store);
  const trees = new Map<string, string>();
  on.store.commit = async (steps: readonly Step[]) => {
    const verdicts = await commit(steps);
    for (const { agent_id } of steps)
      if (!trees.has(agent_id)) trees.set(agent_id, (await on.store.agent(agent_id))?.root_id ?? '');
    if (asking === MANY + guests.length) rounds.push(steps.map(({ agent_id }) => trees.get(agent_id) ?? ''));
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

it('two trees: one step of the large one goes with that of the other', async () => {
  const rounds = await roundsWith(['guest']);
  const shared = rounds.filter((round) => round.includes('guest'));
  assert.ok(shared.length > 0);
  for (const round of shared) assert.ok(count(round, 'many') <= 1, `${count(round, 'many')} steps beside it`);
  assert.ok(rounds.reduce((sum, round) => sum + count(round, 'many'), 0) >= MANY, 'none is forgotten');
});

it('three trees, of which two are alike: as many of the third as they have', async () => {
  const rounds = await roundsWith(['guest', 'guest too']);
  const shared = rounds.filter((round) => round.includes('guest'));
  assert.ok(shared.length > 0);
  for (const round of shared) assert.ok(count(round, 'many') <= 1);
});

it('alone: all of it at once', async () => {
  const rounds = await roundsWith([]);
  assert.ok(rounds.some((round) => count(round, 'many') >= MANY));
});
