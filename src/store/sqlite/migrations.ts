import type { Migration } from '../ledger/database.ts';
import { ASKS, RUN_HISTORY, SCHEDULES_AND_OUTBOX, TREES_AND_AGENTS } from './base-schema.ts';

/** Migrations of the SQLite ledger: numbered, forward only, each applied once. docs/ledger.md describes the schema. */
export const SQLITE_MIGRATIONS: readonly Migration[] = [
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
-- A mark of the last write of a leader that nothing else tells apart from its repetition: a step without messages.
ALTER TABLE agents ADD COLUMN last_write TEXT;
`,
  },
  {
    number: 6,
    purpose: 'agents that need a leader; indexes for large ledgers',
    sql: `
-- Agents of served trees that have something to do and no worker; due_at: not before then, milliseconds since the epoch.
CREATE TABLE unled (
  root_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  due_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (root_id, agent_id)
) STRICT, WITHOUT ROWID;
INSERT INTO unled (root_id, agent_id)
  SELECT g.root_id, g.id FROM agents g JOIN trees t ON t.root_id = g.root_id
  WHERE t.served = 1 AND g.worker IS NULL AND (g.status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting')
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
`,
  },
  {
    number: 7,
    purpose: 'retention: trees that are being removed',
    sql: `
-- Null; closed: nobody leads it or writes to it any more; begun: some of it is gone.
ALTER TABLE trees ADD COLUMN removal TEXT;
CREATE INDEX trees_closed ON trees (root_id) WHERE removal IS NOT NULL;
CREATE INDEX deliveries_delivered ON deliveries (ended_at, id) WHERE status = 'delivered';
`,
  },
  {
    number: 8,
    purpose: 'asks: what a call would change in a file',
    sql: `
ALTER TABLE asks ADD COLUMN difference TEXT;
`,
  },
  {
    number: 9,
    purpose: 'a step may change the model of its agent',
    // SQLite needs nothing for it; both databases share the numbers.
    sql: 'SELECT 1',
  },
  {
    number: 10,
    purpose: 'wait-for edges: when they end by themselves',
    // Null: the edge never ends by itself, as in all older rows.
    sql: `
ALTER TABLE wait_edges ADD COLUMN until INTEGER;
`,
  },
  {
    number: 11,
    purpose: 'indexes for lists of agents, newest first, and of the conversations of a folder',
    sql: `
CREATE INDEX agents_by_time ON agents (created_at);
CREATE INDEX agents_by_folder ON agents (json_extract(config, '$.cwd'), created_at) WHERE origin = 'root';
`,
  },
  {
    number: 12,
    purpose: 'decisions leave the database',
    // SQLite never held any; both databases share the numbers.
    sql: 'SELECT 1',
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
    // SQLite needs nothing for it; both databases share the numbers.
    sql: 'SELECT 1',
  },
  {
    number: 15,
    purpose: 'asks: how rules match the call, the rule that an answer granted, and when it was taken back',
    sql: `
ALTER TABLE asks ADD COLUMN subject_kind TEXT;
ALTER TABLE asks ADD COLUMN granted TEXT;
ALTER TABLE asks ADD COLUMN revoked_at INTEGER;
CREATE INDEX asks_granted ON asks (root_id) WHERE scope <> 'once' AND revoked_at IS NULL;
`,
  },
  {
    number: 16,
    purpose: 'letters: pictures, and what decides whether one can be taken back',
    sql: `
ALTER TABLE mail ADD COLUMN images TEXT;
`,
  },
  {
    number: 17,
    purpose: 'messages: the file that a call changed',
    sql: `
ALTER TABLE messages ADD COLUMN changed TEXT;
CREATE INDEX messages_by_file ON messages (changed, at) WHERE changed IS NOT NULL;
`,
  },
  {
    number: 18,
    purpose: 'budgets of agents, and what of a tree its budget does not count or has set aside',
    sql: `
ALTER TABLE agents ADD COLUMN budget TEXT;
ALTER TABLE trees ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trees ADD COLUMN reserved_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trees ADD COLUMN reserved_usd REAL NOT NULL DEFAULT 0;
`,
  },
  {
    number: 19,
    purpose: 'letters to a parent: what their sender had done by then',
    sql: `
ALTER TABLE mail ADD COLUMN did TEXT;
`,
  },
  {
    number: 20,
    purpose: 'the task list that the agents of a tree share',
    sql: `
CREATE TABLE tasks (
  root_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  title TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  done INTEGER NOT NULL,
  -- Who claimed it, or finished it. A claim counts as long as its agent lives.
  agent_id TEXT,
  agent_name TEXT,
  result TEXT,
  added_by TEXT NOT NULL,
  call_id TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (root_id, number)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    number: 21,
    purpose: 'an index for agents of a profile and a model, newest first',
    sql: `
CREATE INDEX agents_by_kind ON agents (coalesce(json_extract(config, '$.profile'), ''), json_extract(config, '$.model'), created_at);
`,
  },
  {
    number: 22,
    purpose: 'instructions of agents: once for a tree',
    sql: `
CREATE TABLE instructions (
  root_id TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;
`,
  },
];
