// Proves, on both databases, that a join ends whichever of two operating-system processes commits last: the one that waits, or the one that does what it waits
// for. Each write is held until the other is in the ledger, or its acknowledgement is; there are no polls and waits have no timeout, so a lost signal hangs.
import { after, before, it } from 'node:test';
import { seeded } from '../../channels/seeded.ts';
import { DEEP } from '../../house/deep.ts';
import { alwaysOnBothDatabases } from '../both-databases.ts';
import { ORDERS, play, RACES } from './apart/races.ts';
import { TAKE_OVERS } from './apart/take-overs.ts';
import { TwoLeaders } from './apart/two-leaders.ts';

/** Number of extra rounds, each with every race in every order, shuffled. */
const ROUNDS = DEEP ? 4 : 0;

alwaysOnBothDatabases('two processes', (database) => {
  let on: TwoLeaders;
  before(async () => {
    on = await TwoLeaders.open(await database());
  });
  after(() => on.close());

  for (const race of RACES)
    it(race.title, async () => {
      for (const order of ORDERS) await played(race, order);
    });

  for (const [title, takeOver] of Object.entries(TAKE_OVERS))
    it(title, () => takeOver(on).finally(() => on.clear()));

  for (let round = 1; round <= ROUNDS; round += 1)
    it(`in random order, round ${round}`, async () => {
      const random = seeded(round);
      const all = RACES.flatMap((race) => ORDERS.map((order) => ({ race, order, at: random() })));
      for (const { race, order } of all.sort((a, b) => a.at - b.at)) await played(race, order);
    });

  async function played(...[race, order]: [(typeof RACES)[number], (typeof ORDERS)[number]]): Promise<void> {
    await play(race, order, on).catch((cause: unknown) => {
      throw new Error(`${race.title}: ${order}`, { cause });
    });
  }
});
