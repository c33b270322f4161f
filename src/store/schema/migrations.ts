import type { Database } from '../ledger/database.ts';
import { StoreError } from '../store-error.ts';
import { SCHEMA_23 } from './schema.ts';

/** One step of the schema; both databases use the same numbers. */
interface Migration {
  readonly number: number;
  readonly purpose: string;
  readonly sql: string;
}

/**
 * Migrations of the ledger: numbered, forward only, each applied once; after the last one, PostgreSQL installs the newest functions. docs/ledger.md describes
 * the schema. The text is written for PostgreSQL, with what a table of SQLite is besides (`STRICT`, `WITHOUT ROWID`); a line that ends in `-- postgres` or
 * `-- sqlite` is only for that database.
 */
const MIGRATIONS: readonly Migration[] = [
  { number: 23, purpose: 'all tables', sql: SCHEMA_23 },
  {
    number: 24,
    purpose: 'facts of letters beside their texts',
    // Null in older rows, whose texts are read instead (records/conversation/old-facts.ts).
    sql: `
ALTER TABLE mail ADD COLUMN facts text;
`,
  },
  {
    number: 25,
    purpose: 'indexes for the newest checkpoint of an agent, the mail of a tree, and open asks by time',
    sql: `
CREATE INDEX messages_checkpoints ON messages (agent_id, seq) WHERE kind = 'event' AND substr(content, 1, 21) = '{"event":"checkpoint"';
CREATE INDEX mail_by_root ON mail (root_id, sent_at, to_id, number);
CREATE INDEX asks_open_by_time ON asks (asked_at, number) WHERE verdict IS NULL; -- postgres
CREATE INDEX asks_open_by_time ON asks (asked_at) WHERE verdict IS NULL; -- sqlite
`,
  },
  {
    number: 26,
    purpose: 'an index for the list of workflow runs',
    sql: `
CREATE INDEX agents_workflows ON agents (created_at, number) WHERE config::json->'workflow'->>'name' IS NOT NULL AND config::json->'workflow'->'ask' IS NULL; -- postgres
CREATE INDEX agents_workflows ON agents (created_at) WHERE json_extract(config, '$.workflow.name') IS NOT NULL AND json_extract(config, '$.workflow.ask') IS NULL; -- sqlite
`,
  },
  // PostgreSQL's function that writes rows left this out.
  { number: 27, purpose: 'how a run ended, on PostgreSQL as well', sql: '' },
  {
    number: 28,
    purpose: 'full text of conversations, up to a seq of each agent',
    // Written by whoever searches, never by a commit (decision 71); gone with the agent.
    sql: `
CREATE TABLE search_places (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text NOT NULL UNIQUE REFERENCES agents (id) ON DELETE CASCADE,
  seq bigint NOT NULL
) STRICT;
CREATE TABLE search_words ( -- postgres
  place bigint NOT NULL REFERENCES search_places (number) ON DELETE CASCADE, -- postgres
  seq bigint NOT NULL, -- postgres
  at bigint NOT NULL, -- postgres
  words tsvector NOT NULL, -- postgres
  PRIMARY KEY (place, seq) -- postgres
); -- postgres
CREATE INDEX search_words_found ON search_words USING gin (words); -- postgres
CREATE VIRTUAL TABLE search_words USING fts5(words, at UNINDEXED, content='', contentless_delete=1, contentless_unindexed=1); -- sqlite
CREATE TRIGGER search_places_gone AFTER DELETE ON search_places -- sqlite
  BEGIN DELETE FROM search_words WHERE rowid BETWEEN old.number << 24 AND (old.number + 1 << 24) - 1; END; -- sqlite
`,
  },
  {
    number: 29,
    purpose: 'how the tree ended whose result is delivered',
    sql: `
ALTER TABLE deliveries ADD COLUMN outcome text;
ALTER TABLE deliveries ADD COLUMN outcome_text text;
`,
  },
  {
    number: 30,
    purpose: 'an index for the files that a tree changed',
    sql: `
CREATE INDEX messages_changed ON messages (agent_id, seq) WHERE changed IS NOT NULL;
`,
  },
  {
    number: 31,
    purpose:
      'cuts of trees (docs/time-machine.md), and the place of a letter and of a birth in the conversation of whoever caused it',
    // Null in older rows, which are ordered by time.
    sql: `
ALTER TABLE mail ADD COLUMN sent_seq bigint;
ALTER TABLE agents ADD COLUMN made_seq bigint;
ALTER TABLE agents ADD COLUMN was text;
ALTER TABLE trees ADD COLUMN cut_of text;
ALTER TABLE trees ADD COLUMN cut text;
CREATE INDEX agents_cut ON agents (forked_from) WHERE was IS NOT NULL;
CREATE INDEX trees_cut ON trees (cut_of) WHERE cut_of IS NOT NULL;
`,
  },
  { number: 32, purpose: 'what a killed agent had said is read by the function of facts', sql: '' },
];

export const NEWEST_SCHEMA = MIGRATIONS.at(-1)?.number ?? 0;
/** Older ledgers come from versions that were never published, and are not opened (decision 55). */
export const OLDEST_SCHEMA = MIGRATIONS[0]?.number ?? 0;

/** Throws a `StoreError` for a ledger of a schema that these migrations do not bring up to date; 0 is a new one. */
export function refuseOtherSchema(present: number, location: string): void {
  const other = 'or choose another ledger with --database';
  if (present > NEWEST_SCHEMA)
    throw new StoreError(
      'E_DB_NEWER',
      `${location} was written by a newer Coppice (schema ${present}, this one knows ${NEWEST_SCHEMA}): update Coppice, ${other}`,
    );
  if (present > 0 && present < OLDEST_SCHEMA)
    throw new StoreError(
      'E_DB_OLDER',
      `${location} was written by a Coppice from before the first release (schema ${present}, this one opens ${OLDEST_SCHEMA} and later): read it with the version that wrote it, or upgrade it as docs/operations.md says, ${other}`,
    );
}

/** What SQLite writes otherwise; it numbers the rows of a table without such a column by itself. */
const IN_SQLITE: readonly (readonly [RegExp, string])[] = [
  [/,\s+number bigint GENERATED ALWAYS AS IDENTITY/g, ''],
  [/ GENERATED ALWAYS AS IDENTITY/g, ''],
  [/\b(?:bigint|integer|boolean)\b/g, 'INTEGER'],
  [/\bdouble precision\b/g, 'REAL'],
  [/\bDEFAULT false\b/g, 'DEFAULT 0'],
  [/ WITH \(fillfactor = \d+\)/g, ''],
];

export function migrationsOf(kind: Database['kind']): readonly Migration[] {
  const others = kind === 'sqlite' ? /^.*-- postgres$/gm : /^.*-- sqlite$/gm;
  const words = kind === 'sqlite' ? IN_SQLITE : [[/ STRICT(?:, WITHOUT ROWID)?/g, ''] as const];
  return MIGRATIONS.map((one) => ({
    ...one,
    sql: words.reduce((sql, [from, to]) => sql.replace(from, to), one.sql.replace(others, '')),
  }));
}
