import { after, afterEach, before, describe } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { DEEP } from '../house/deep.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { NO_POLLS } from './no-polls.ts';
import { type Play, type Stage, type StageOptions, setStage } from './stage.ts';

/** Returns the URL of a new ledger at each call; `undefined` stands for a new SQLite file that the stage creates. */
export type Database = () => Promise<string | undefined>;

/** Whether this is `npm run test:long`. */
const LONG = process.env.COPPICE_TEST_LONG === '1';

type Suite = (database: Database, kind: 'SQLite' | 'PostgreSQL') => void;

/**
 * Runs a suite on SQLite and on a real PostgreSQL; `database` gives each stage a new ledger. For tests of code above the ledger, whose contract is tested on
 * both anyway: `npm test` runs them on SQLite, `npm run test:long` on PostgreSQL, and `npm run test:promptly` and `npm run test:deep` on both.
 */
export function onBothDatabases(title: string, suite: Suite): void {
  if (!LONG) onSqlite(title, suite);
  if (LONG || NO_POLLS || DEEP) onPostgres(title, suite);
}

/** Runs a suite on both in every run: for tests that depend on how a database locks, signals or fails, and for those that only long runs include or repeat. */
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
    // Registered after the suite, so that the suite's own clean-up, which still uses its databases, runs first.
    afterEach(closeOpened);
    after(() => server.stop());
  });
}

/** Returns a function that sets up stages with these options in addition to their own, each on a new ledger. */
export function stagesOn(
  database: Database,
  usual: StageOptions = {},
): (play: Play, options?: StageOptions) => Promise<Stage> {
  return async (play, options) => setStage(play, { ...usual, ...options, database: await database() });
}
