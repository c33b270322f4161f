// Proves that a working tree survives the loss of its database: every letter arrives once, every child ends, and no error is left uncaught.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultyWire } from '../postgres/faulty-wire.ts';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.ts';
import { forked, type Play, parsed, setStage } from '../runtime/stage.ts';
import { until } from '../until.ts';

const CHILDREN = 8;
const LETTERS = 10;

/** Children write to the root, one letter per turn of their conversation; the root reads until it has all of them. */
const play: Play = async (scene) => {
  await sleep(20);
  if (scene.name.startsWith('kid')) {
    if (scene.step === LETTERS) return 'written';
    return [['send', { to: scene.parent_id, message: `${scene.name} ${scene.step}` }]];
  }
  if (scene.step === 0)
    return Array.from(
      { length: CHILDREN },
      (_, n) => ['fork', { name: `kid${n}`, prompt: 'write' }] as const,
    );
  const heard = scene.results.filter(({ name }) => name === 'wait').map((result) => parsed(result).message);
  if (heard.length < CHILDREN * LETTERS) return [['wait', { timeout: 60 }]];
  assert.equal(forked(scene).length, CHILDREN);
  return heard.toSorted().join();
};

const ALL = Array.from(
  { length: CHILDREN * LETTERS },
  (_, n) => `kid${Math.floor(n / LETTERS)} ${n % LETTERS}`,
)
  .toSorted()
  .join();

describe('a tree whose database comes and goes', () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  async function performWhile(
    database: string,
    fault: (outages: () => number) => Promise<void>,
  ): Promise<number> {
    const on = await setStage(play, { database });
    const outages = () => on.events.filter((event) => event.type === 'ledger' && !event.reachable).length;
    const root = await on.start('begin', { turns: 500 });
    const [{ reply, agents }] = await Promise.all([on.runtime.settled(root.id), fault(outages)]);
    assert.equal(reply, ALL);
    assert.deepEqual(
      agents.map(({ state }) => state.type),
      agents.map(() => 'idle'),
    );
    await on.close();
    return outages();
  }

  it('restarts under it', async () => {
    const outages = await performWhile(await server.createDatabase(), async () => {
      for (let n = 0; n < 3; n += 1) {
        await sleep(200);
        await server.restart();
      }
    });
    assert.ok(outages > 0, 'the faults were felt');
  });

  it('loses answers on the way', async () => {
    const wire = await faultyWire(await server.createDatabase(), { seed: 3, one_in: 4 });
    const outages = await performWhile(wire.url, async (felt) => {
      wire.say = 'some';
      await until(() => felt() > 0 && wire.lost() > 5, 'answers are lost');
      wire.say = 'all';
    });
    assert.ok(outages > 0 && wire.lost() > 5, 'the faults were felt');
    await wire.close();
  });
});
