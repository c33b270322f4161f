// Proves that no join sleeps through what it waits for, whatever befalls it and whenever: a wait for agents and for anyone, a person's wait, a fan-in, an
// announcement and a delegated call, and joins of three agents, in one process and in two, on both databases. Nobody is at work when nothing can happen any more; no poll is made.
// `npm test` plays the first of the orders without a preemption, or with one, on PostgreSQL few of them; `npm run test:deep` many more; `npm run orders` all.
import { after, before, it } from 'node:test';
import { DEEP } from '../../house/deep.ts';
import { alwaysOnBothDatabases } from '../both-databases.ts';
import { type Background, type Bounds, everyOrder, newGround } from './every-order.ts';
import { type JoinScenario, SCENARIOS } from './order-scenarios.ts';

function bounds(isSqlite: boolean, { share }: JoinScenario): Bounds {
  if (share === 'few') {
    if (DEEP) return isSqlite ? { preemptions: 1, first: 200 } : { preemptions: 0, first: 40 };
    return { preemptions: 0, first: 1 };
  }
  const thorough = share === 'thorough';
  if (DEEP) return { preemptions: isSqlite ? 1 : 0 };
  if (isSqlite) return { preemptions: thorough ? 1 : 0, first: 1 };
  return { preemptions: thorough ? 1 : 0, first: 1 };
}

alwaysOnBothDatabases('joins in many orders', (database, kind) => {
  let ground: Background;
  before(async () => {
    ground = await newGround(await database());
  });
  after(() => ground.close());

  for (const one of SCENARIOS)
    it(one.title, async () => {
      await everyOrder(one.scenario, ground, bounds(kind === 'SQLite', one));
    });
});
