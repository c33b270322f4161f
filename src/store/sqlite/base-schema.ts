/*
 * Schemas 1 to 4 of the SQLite ledger, each as its migration creates it. Later migrations are in migrations.ts; docs/ledger.md describes the result.
 */

/** Schema 1: trees, agents, messages, mail, wait-for edges, workers, signals. */
export const TREES_AND_AGENTS = `
CREATE TABLE trees (
  root_id TEXT PRIMARY KEY,
  limits TEXT NOT NULL,
  live INTEGER NOT NULL,
  total INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL,
  parent_id TEXT,
  name TEXT NOT NULL,
  session_key TEXT NOT NULL,
  origin TEXT NOT NULL,
  depth INTEGER NOT NULL,
  config TEXT NOT NULL,
  status TEXT NOT NULL,
  state TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  forked_from TEXT,
  forked_seq INTEGER,
  mail_count INTEGER NOT NULL DEFAULT 0,
  living_children INTEGER NOT NULL DEFAULT 0,
  worker TEXT,
  epoch INTEGER NOT NULL DEFAULT 1,
  calls INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL,
  doing TEXT,
  reply TEXT,
  sent_this_turn INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX agents_by_root ON agents (root_id, created_at);
CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX agents_by_worker ON agents (worker) WHERE worker IS NOT NULL;
CREATE INDEX agents_by_name ON agents (name);
CREATE INDEX agents_by_session_key ON agents (session_key);
CREATE INDEX agents_roots ON agents (created_at) WHERE parent_id IS NULL;

CREATE TABLE messages (
  agent_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE mail (
  id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  from_id TEXT,
  from_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  number INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  consumed_seq INTEGER,
  UNIQUE (to_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_pending ON mail (to_id, number) WHERE consumed_seq IS NULL;

CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_usd REAL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX requests_by_agent ON requests (agent_id, id);

CREATE TABLE wait_edges (
  waiter TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (waiter, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_edges_by_target ON wait_edges (target);

CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signals (
  id INTEGER PRIMARY KEY,
  worker TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  about TEXT
) STRICT;
CREATE INDEX signals_by_worker ON signals (worker, id);
`;

/** Schema 2: the run history. */
export const RUN_HISTORY = `
ALTER TABLE agents ADD COLUMN noticed INTEGER NOT NULL DEFAULT 0;

CREATE TABLE subagent_runs (
  id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  source TEXT NOT NULL,
  session_key TEXT NOT NULL,
  requester_id TEXT,
  requester_key TEXT NOT NULL,
  task TEXT NOT NULL,
  label TEXT,
  model TEXT NOT NULL,
  thinking TEXT NOT NULL,
  timeout_ms INTEGER,
  cleanup TEXT NOT NULL,
  status TEXT NOT NULL,
  result TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  duration_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX subagent_runs_by_agent ON subagent_runs (agent_id);
CREATE INDEX subagent_runs_by_root ON subagent_runs (root_id, created_at);
CREATE INDEX subagent_runs_by_time ON subagent_runs (created_at);
CREATE INDEX subagent_runs_active ON subagent_runs (created_at) WHERE finished_at IS NULL;
`;

/** Schema 3: calls that wait for a person. */
export const ASKS = `
ALTER TABLE agents ADD COLUMN reaped_at INTEGER;

CREATE TABLE asks (
  id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  subject TEXT NOT NULL,
  input TEXT NOT NULL,
  cwd TEXT NOT NULL,
  rule TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  verdict TEXT,
  scope TEXT,
  note TEXT,
  answered_by TEXT,
  answered_at INTEGER
) STRICT;
CREATE INDEX asks_open ON asks (root_id) WHERE verdict IS NULL;
CREATE INDEX asks_by_agent ON asks (agent_id);
`;

/** Schema 4: schedules, the outbox, served trees. */
export const SCHEDULES_AND_OUTBOX = `
ALTER TABLE agents ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trees ADD COLUMN served INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trees ADD COLUMN placement TEXT NOT NULL DEFAULT '[]';
ALTER TABLE workers ADD COLUMN role TEXT NOT NULL DEFAULT 'run';
ALTER TABLE workers ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';
ALTER TABLE workers ADD COLUMN draining INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workers ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX agents_conversations ON agents (created_at) WHERE origin = 'root';
CREATE INDEX agents_at_work ON agents (root_id, worker)
  WHERE status IN ('requesting', 'executing', 'awaiting', 'cancelling', 'waiting');

ALTER TABLE subagent_runs ADD COLUMN deliver TEXT NOT NULL DEFAULT '[]';
ALTER TABLE subagent_runs ADD COLUMN job_id TEXT;
ALTER TABLE subagent_runs ADD COLUMN cleaned_at INTEGER;
UPDATE subagent_runs SET cleaned_at = finished_at WHERE finished_at IS NOT NULL;
CREATE INDEX subagent_runs_by_job ON subagent_runs (job_id, created_at) WHERE job_id IS NOT NULL;
CREATE INDEX subagent_runs_to_clean ON subagent_runs (finished_at)
  WHERE cleanup = 'delete' AND finished_at IS NOT NULL AND cleaned_at IS NULL;

CREATE TABLE cron_jobs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  root_id TEXT,
  definition TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  next_at INTEGER,
  planned_at INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX cron_jobs_due ON cron_jobs (next_at) WHERE enabled = 1 AND next_at IS NOT NULL;
CREATE INDEX cron_jobs_planned ON cron_jobs (planned_at) WHERE enabled = 1 AND next_at IS NOT NULL;
CREATE INDEX cron_jobs_by_root ON cron_jobs (root_id) WHERE root_id IS NOT NULL;

CREATE TABLE cron_fires (
  job_id TEXT NOT NULL,
  instant INTEGER NOT NULL,
  manual INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  missed INTEGER NOT NULL,
  run_id TEXT,
  fired_at INTEGER NOT NULL,
  PRIMARY KEY (job_id, instant, manual)
) STRICT, WITHOUT ROWID;
CREATE INDEX cron_fires_queued ON cron_fires (job_id) WHERE outcome = 'queued';

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  channel TEXT NOT NULL,
  root_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  about TEXT,
  body TEXT,
  created_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  worker TEXT,
  error TEXT,
  progress TEXT,
  ended_at INTEGER
) STRICT;
CREATE INDEX deliveries_due ON deliveries (channel, next_at) WHERE status = 'pending';
CREATE INDEX deliveries_by_about ON deliveries (about) WHERE about IS NOT NULL;
CREATE INDEX deliveries_by_time ON deliveries (created_at);
CREATE INDEX deliveries_failed ON deliveries (ended_at) WHERE status = 'failed';

CREATE TABLE channel_seats (channel TEXT PRIMARY KEY, worker TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE channel_notes (
  channel TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (channel, key)
) STRICT, WITHOUT ROWID;
`;
