// Proves that no join misses what it waits for, whatever happens and whenever: a wait for agents and for anyone, a person's wait, a fan-in, an announcement
// and a delegated call, and joins of three agents, in one process and in two, on both databases, without polls. At the end no agent is at work.
// `npm test` plays one order of each on SQLite, `npm run test:promptly` on both, `npm run test:deep` those with few preemptions (fewer on PostgreSQL and for three agents), `npm run orders` all.
import { after, before, it } from 'node:test';
import { DEEP } from '../../house/deep.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Background, type Bounds, everyOrder, newGround } from './every-order.ts';
import { type JoinScenario, SCENARIOS } from './order-scenarios.ts';

function bounds(isSqlite: boolean, { share }: JoinScenario): Bounds {
  if (share === 'few') {
    if (DEEP) return isSqlite ? { preemptions: 1, first: 200 } : { preemptions: 0, first: 40 };
    return { preemptions: 0, first: 1 };
  }
  if (DEEP) return { preemptions: isSqlite ? 1 : 0 };
  return { preemptions: share === 'thorough' ? 1 : 0, first: 1 };
}

onBothDatabases('joins in many orders', (database, kind) => {
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
