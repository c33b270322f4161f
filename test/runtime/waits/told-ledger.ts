import { databaseAddress } from '../../../src/store/database-address.ts';
import type { Database } from '../../../src/store/ledger/database.ts';
import { openLedger } from '../../../src/store/ledger/ledger.ts';
import { ConnectionPool } from '../../../src/store/postgres/connection-pool.ts';
import { Listener } from '../../../src/store/postgres/listener.ts';
import { postgresAddress } from '../../../src/store/postgres/postgres-address.ts';
import { PostgresDatabase } from '../../../src/store/postgres/postgres-database.ts';
import { migrate } from '../../../src/store/postgres/postgres-store.ts';
import { openDatabase } from '../../../src/store/sqlite/open-database.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/sqlite-database.ts';
import type { Store } from '../../../src/store/store.ts';

const WORKER = /^coppice_worker_/;

/** A real ledger whose transactions report at their end which workers they have signals for, in place of the wake-ups of the database. */
export class ToldLedger {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(url: string): Promise<ToldLedger> {
    const address = databaseAddress(url);
    if (address.kind === 'sqlite')
      return new ToldLedger(new SqliteDatabase(address.path, openDatabase(address.path, true), {}));
    const wire = postgresAddress(address.url);
    const pool = new ConnectionPool(wire);
    await pool.dedicated((client) => migrate(client, wire.location, true));
    return new ToldLedger(new PostgresDatabase(pool, wire.location, new Listener(null)));
  }

  /** The store of one process. `told` is called with each worker for which that process wrote something. */
  store(told: (worker_id: string) => void): Store {
    const db = this.#database;
    return openLedger({
      kind: db.kind,
      location: db.location,
      dialect: db.dialect,
      acknowledgements_may_be_lost: db.acknowledgements_may_be_lost,
      read: (...query) => db.read(...query),
      write: (...query) => db.write(...query),
      transact: async (wanted, decide, look) => {
        let channels: readonly string[] = [];
        const result = await db.transact(
          wanted,
          (unit, found) => {
            const decided = decide(unit, found);
            channels = unit.changes().notices.map(({ channel }) => channel);
            return decided;
          },
          look,
        );
        for (const channel of new Set(channels)) if (WORKER.test(channel)) told(channel.replace(WORKER, ''));
        return result;
      },
      listen: async () => async () => undefined,
      now: () => db.now(),
      close: async () => undefined,
    });
  }

  /** Assigns the agent to this worker, as if others had claimed the rest of its tree. */
  async lend(agent_id: string, worker: string): Promise<void> {
    await this.#database.transact({ agent: [agent_id] }, (unit) => {
      const agent = unit.agent(agent_id);
      if (agent !== null) unit.setAgent(agent, { worker, epoch: agent.epoch + 1 });
    });
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
