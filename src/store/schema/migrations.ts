import type { Database } from '../ledger/database.ts';
import { ASKS, RUN_HISTORY, SCHEDULES_AND_OUTBOX, TREES_AND_AGENTS } from './base-schema.ts';

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
  {
    number: 1,
    purpose: 'trees, agents, messages, mail, wait-for edges, workers, signals',
    sql: TREES_AND_AGENTS,
  },
  { number: 2, purpose: 'the run history', sql: RUN_HISTORY },
  { number: 3, purpose: 'calls that wait for a person', sql: ASKS },
  { number: 4, purpose: 'schedules, the outbox, served trees', sql: SCHEDULES_AND_OUTBOX },
  {
    number: 5,
    purpose: 'recognise a repeated write whose acknowledgement was lost',
    sql: `
DROP FUNCTION IF EXISTS coppice_create_root(jsonb, text, boolean); -- postgres

-- A mark of the last write of a leader that nothing else tells apart from its repetition: a step without messages, or a claim.
ALTER TABLE agents ADD COLUMN last_write text;
`,
  },
  {
    number: 6,
    purpose: 'agents that need a leader; indexes for large ledgers',
    sql: `
-- Agents of served trees that have something to do and no worker; due_at: not before then, milliseconds since the epoch.
CREATE TABLE unled (
  root_id text NOT NULL,
  agent_id text NOT NULL,
  due_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (root_id, agent_id)
) STRICT, WITHOUT ROWID;
INSERT INTO unled (root_id, agent_id)
  SELECT g.root_id, g.id FROM agents g JOIN trees t ON t.root_id = g.root_id
  WHERE t.served AND g.worker IS NULL AND (g.status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')
    OR (g.status NOT IN ('completed', 'failed', 'killed')
      AND EXISTS (SELECT 1 FROM mail m WHERE m.to_id = g.id AND m.consumed_seq IS NULL)));

CREATE INDEX unled_due ON unled (due_at, root_id);

-- No index looks at what changes with every step, so that a step rewrites one row and no index.
DROP INDEX agents_at_work;

CREATE INDEX subagent_runs_by_session_key ON subagent_runs (session_key, created_at);
CREATE INDEX subagent_runs_by_source ON subagent_runs (source, created_at);
CREATE INDEX subagent_runs_at_work ON subagent_runs (job_id) WHERE finished_at IS NULL AND job_id IS NOT NULL;
DROP INDEX subagent_runs_to_clean;
CREATE INDEX subagent_runs_to_clean ON subagent_runs (finished_at)
  WHERE cleanup = 'delete' AND finished_at IS NOT NULL AND cleaned_at IS NULL AND (source = 'cron' OR deliver <> '[]');
DROP INDEX deliveries_failed;
CREATE INDEX deliveries_failed ON deliveries (created_at) WHERE status = 'failed';
CREATE INDEX deliveries_pending ON deliveries (created_at) WHERE status = 'pending';
CREATE INDEX asks_by_root ON asks (root_id, asked_at);
CREATE INDEX cron_fires_by_time ON cron_fires (job_id, fired_at, instant);

-- Room for new versions of a row beside the old one, and dead versions gone before they are many.
ALTER TABLE agents SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02); -- postgres
ALTER TABLE trees SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02); -- postgres
ALTER TABLE mail SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02); -- postgres
ALTER TABLE messages SET (autovacuum_analyze_scale_factor = 0.02); -- postgres
ALTER TABLE workers SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200); -- postgres
ALTER TABLE signals SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000); -- postgres
ALTER TABLE unled SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000); -- postgres
ALTER TABLE wait_edges SET (autovacuum_vacuum_scale_factor = 0.02); -- postgres
ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.02); -- postgres
`,
  },
  {
    number: 7,
    purpose: 'retention: trees that are being removed',
    sql: `
-- Null; closed: nobody leads it or writes to it any more; begun: some of it is gone.
ALTER TABLE trees ADD COLUMN removal text;
CREATE INDEX trees_closed ON trees (root_id) WHERE removal IS NOT NULL;
CREATE INDEX deliveries_delivered ON deliveries (ended_at, id) WHERE status = 'delivered';
`,
  },
  {
    number: 8,
    purpose: 'asks: what a call would change in a file',
    sql: `
ALTER TABLE asks ADD COLUMN difference text;
`,
  },
  {
    number: 9,
    purpose: 'a step may change the model of its agent',
    // No table changes, only the functions that PostgreSQL installs with this migration.
    sql: 'SELECT 1',
  },
  {
    number: 10,
    purpose: 'wait-for edges: when they end by themselves',
    // Null: the edge never ends by itself, as in all older rows.
    sql: `
ALTER TABLE wait_edges ADD COLUMN until bigint;
`,
  },
  {
    number: 11,
    purpose: 'indexes for lists of agents, newest first, and of the conversations of a folder',
    sql: `
CREATE INDEX agents_by_time ON agents (created_at, number); -- postgres
CREATE INDEX agents_by_time ON agents (created_at); -- sqlite
CREATE INDEX agents_by_folder ON agents ((config::json->>'cwd'), created_at, number) WHERE origin = 'root'; -- postgres
CREATE INDEX agents_by_folder ON agents (json_extract(config, '$.cwd'), created_at) WHERE origin = 'root'; -- sqlite
`,
  },
  {
    number: 12,
    purpose: 'decisions leave the database',
    // Drops every older function of PostgreSQL: those installed with it only read facts and write rows. SQLite never held any.
    sql: `
DO $$ -- postgres
DECLARE old regprocedure; -- postgres
BEGIN -- postgres
  FOR old IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.proname LIKE 'coppice\\_%' LOOP -- postgres
    EXECUTE 'DROP FUNCTION ' || old || ' CASCADE'; -- postgres
  END LOOP; -- postgres
END $$; -- postgres
`,
  },
  {
    number: 13,
    purpose: 'an index for the queued runs of a tree, oldest first',
    sql: `
CREATE INDEX subagent_runs_queued ON subagent_runs (root_id, created_at) WHERE started_at IS NULL AND finished_at IS NULL;
`,
  },
  {
    number: 14,
    purpose: 'the facts of a worker say whether its lease has run out',
    // No table changes, only the functions that PostgreSQL installs with this migration.
    sql: 'SELECT 1',
  },
  {
    number: 15,
    purpose: 'asks: how rules match the call, the rule that an answer granted, and when it was taken back',
    sql: `
ALTER TABLE asks ADD COLUMN subject_kind text;
ALTER TABLE asks ADD COLUMN granted text;
ALTER TABLE asks ADD COLUMN revoked_at bigint;
CREATE INDEX asks_granted ON asks (root_id) WHERE scope <> 'once' AND revoked_at IS NULL;
`,
  },
  {
    number: 16,
    purpose: 'letters: pictures, and what decides whether one can be taken back',
    sql: `
ALTER TABLE mail ADD COLUMN images text;
`,
  },
  {
    number: 17,
    purpose: 'messages: the file that a call changed',
    sql: `
ALTER TABLE messages ADD COLUMN changed text;
CREATE INDEX messages_by_file ON messages (changed, at) WHERE changed IS NOT NULL;
`,
  },
  {
    number: 18,
    purpose: 'budgets of agents, and what of a tree its budget does not count or has set aside',
    // On PostgreSQL not NOT NULL: a process of schema 16 that is still running inserts trees without them.
    sql: `
ALTER TABLE agents ADD COLUMN budget text;
ALTER TABLE trees ADD COLUMN cached_tokens bigint DEFAULT 0; -- postgres
ALTER TABLE trees ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0; -- sqlite
ALTER TABLE trees ADD COLUMN reserved_tokens bigint DEFAULT 0; -- postgres
ALTER TABLE trees ADD COLUMN reserved_tokens bigint NOT NULL DEFAULT 0; -- sqlite
ALTER TABLE trees ADD COLUMN reserved_usd double precision DEFAULT 0; -- postgres
ALTER TABLE trees ADD COLUMN reserved_usd double precision NOT NULL DEFAULT 0; -- sqlite
`,
  },
  {
    number: 19,
    purpose: 'letters to a parent: what their sender had done by then',
    sql: `
ALTER TABLE mail ADD COLUMN did text;
`,
  },
  {
    number: 20,
    purpose: 'the task list that the agents of a tree share',
    sql: `
CREATE TABLE tasks (
  root_id text NOT NULL,
  number bigint NOT NULL,
  title text NOT NULL,
  depends_on text NOT NULL,
  done boolean NOT NULL,
  -- Who claimed it, or finished it. A claim counts as long as its agent lives.
  agent_id text,
  agent_name text,
  result text,
  added_by text NOT NULL,
  call_id text NOT NULL,
  added_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (root_id, number)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    number: 21,
    purpose: 'an index for agents of a profile and a model, newest first',
    sql: `
CREATE INDEX agents_by_kind ON agents ((coalesce(config::json->>'profile', '')), (config::json->>'model'), created_at, number); -- postgres
CREATE INDEX agents_by_kind ON agents (coalesce(json_extract(config, '$.profile'), ''), json_extract(config, '$.model'), created_at); -- sqlite
`,
  },
  {
    number: 22,
    purpose: 'instructions of agents: once for a tree',
    sql: `
CREATE TABLE instructions (
  root_id text PRIMARY KEY,
  text text NOT NULL
) STRICT;
`,
  },
  {
    number: 23,
    purpose: 'how a run ended, in one word and in one line',
    sql: `
ALTER TABLE subagent_runs ADD COLUMN outcome text;
ALTER TABLE subagent_runs ADD COLUMN outcome_text text;
`,
  },
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
];

export const NEWEST_SCHEMA = MIGRATIONS.at(-1)?.number ?? 0;

/** What SQLite writes otherwise; it numbers the rows of a table without such a column by itself. */
const IN_SQLITE: readonly (readonly [RegExp, string])[] = [
  [/,\s+number bigint GENERATED ALWAYS AS IDENTITY(?=\s+\))/g, ''],
  [/ GENERATED ALWAYS AS IDENTITY/g, ''],
  [/\b(?:bigint|integer|boolean)\b/g, 'INTEGER'],
  [/\bdouble precision\b/g, 'REAL'],
  [/\bDEFAULT false\b/g, 'DEFAULT 0'],
  [/ WITH \(fillfactor = \d+\)/g, ''],
];

/** The migrations in the language of a database. */
export function migrationsOf(kind: Database['kind']): readonly Migration[] {
  const others = kind === 'sqlite' ? /^.*-- postgres$/gm : /^.*-- sqlite$/gm;
  const words = kind === 'sqlite' ? IN_SQLITE : [[/ STRICT(?:, WITHOUT ROWID)?/g, ''] as const];
  return MIGRATIONS.map((one) => ({
    ...one,
    sql: words.reduce((sql, [from, to]) => sql.replace(from, to), one.sql.replace(others, '')),
  }));
}
