import { after, afterEach, before, describe } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { NO_POLLS } from './no-polls.ts';
import { type Play, type Stage, type StageOptions, setStage } from './stage.ts';

/** The URL of a new ledger for each call; `undefined` for a new SQLite file of the stage's own. */
export type Database = () => Promise<string | undefined>;

/** In `npm run test:long`. */
const LONG = process.env.COPPICE_TEST_LONG === '1';

type Suite = (database: Database, kind: 'SQLite' | 'PostgreSQL') => void;

/**
 * The same tests on SQLite and on a real PostgreSQL; `database` gives each stage a new one, `undefined` for a new SQLite file. What stands above the ledger,
 * whose contract is tested on both, meets SQLite in `npm test`, PostgreSQL in `npm run test:long`, and both in `npm run test:promptly`.
 */
export function onBothDatabases(title: string, suite: Suite): void {
  if (!LONG) onSqlite(title, suite);
  if (LONG || NO_POLLS) onPostgres(title, suite);
}

/** The same on both in every run: what depends on how a database locks, signals or dies, and what only long runs have or repeat. */
export function alwaysOnBothDatabases(title: string, suite: Suite): void {
  onSqlite(title, suite);
  onPostgres(title, suite);
}

function onSqlite(title: string, suite: Suite): void {
  describe(`${title} on SQLite`, () => {
    suite(async () => undefined, 'SQLite');
    afterEach(closeOpened);
  });
}

function onPostgres(title: string, suite: Suite): void {
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
