import { after, afterEach, before, describe } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { type Play, type Stage, type StageOptions, setStage } from './stage.ts';

/** The URL of a new ledger for each call; `undefined` for a new SQLite file of the stage's own. */
export type Database = () => Promise<string | undefined>;

/** The same tests on SQLite and on a real PostgreSQL; `database` gives each stage a new one, `undefined` for a new SQLite file. */
export function onBothDatabases(
  title: string,
  suite: (database: Database, kind: 'SQLite' | 'PostgreSQL') => void,
): void {
  describe(`${title} on SQLite`, () => {
    suite(async () => undefined, 'SQLite');
    afterEach(closeOpened);
  });
  describe(`${title} on PostgreSQL`, () => {
    let server: Databases;
    before(async () => {
      server = await sharedPostgres();
    });
    suite(() => server.createDatabase(), 'PostgreSQL');
    // The suite's own clean-up comes first: what it closes there still uses its databases.
    afterEach(closeOpened);
    after(() => server.stop());
  });
}

/** Sets stages with these options beside their own, each on a new ledger. */
export function stagesOn(
  database: Database,
  usual: StageOptions = {},
): (play: Play, options?: StageOptions) => Promise<Stage> {
  return async (play, options) => setStage(play, { ...usual, ...options, database: await database() });
}
