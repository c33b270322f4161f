// Proves that no join sleeps through what it waits for, whatever befalls it and whenever: a wait for agents and for anyone, a person's wait, a fan-in, an
// announcement and a delegated call, in one process and in two, on both databases. Nobody is at work when nothing can happen any more; no poll is made.
// Here are the orders with at most so many preemptions as a scenario says, on PostgreSQL the first eight without any; `npm run orders` plays all.
import { after, before, it } from 'node:test';
import { onBothDatabases } from '../both-databases.ts';
import { everyOrder, type Ground, newGround } from './every-order.ts';
import { SCENARIOS } from './order-scenarios.ts';

onBothDatabases('joins in many orders', (database) => {
  let ground: Ground;
  before(async () => {
    ground = await newGround(await database());
  });
  after(() => ground.close());

  for (const { title, scenario, preemptions } of SCENARIOS)
    it(title, async () => {
      const isSqlite = (await database()) === undefined;
      await everyOrder(scenario, ground, isSqlite ? { preemptions } : { preemptions: 0, first: 8 });
    });
});
