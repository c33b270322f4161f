import { after, before, describe } from 'node:test';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';

/** The URL of a new ledger for each call; `undefined` for a new SQLite file of the stage's own. */
export type Database = () => Promise<string | undefined>;

/** The same tests on SQLite and on a real PostgreSQL; `database` gives each stage a new one, `undefined` for a new SQLite file. */
export function onBothDatabases(title: string, suite: (database: Database) => void): void {
  describe(`${title} on SQLite`, () => suite(async () => undefined));
  describe(`${title} on PostgreSQL`, () => {
    let server: Databases;
    before(async () => {
      server = await sharedPostgres();
    });
    suite(() => server.createDatabase());
    // The suite's own clean-up comes first: what it closes there still uses its databases.
    after(() => server.stop());
  });
}
