/**
 * Schema 23 of the ledger, the first that was published (decision 55): every table and index, in the language of migrations.ts, where later changes are.
 * docs/ledger.md describes it. A ledger that grew to schema 23 step by step has the same.
 */
export const SCHEMA_23 = `
CREATE TABLE trees (
  root_id text PRIMARY KEY,
  limits text NOT NULL,
  live bigint NOT NULL,
  total bigint NOT NULL,
  tokens bigint NOT NULL DEFAULT 0,
  cost_usd double precision NOT NULL DEFAULT 0,
  served boolean NOT NULL DEFAULT false,
  placement text NOT NULL DEFAULT '[]',
  -- Null; closed: nobody leads it or writes to it any more; begun: some of it is gone.
  removal text,
  cached_tokens bigint NOT NULL DEFAULT 0,
  reserved_tokens bigint NOT NULL DEFAULT 0,
  reserved_usd double precision NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX trees_closed ON trees (root_id) WHERE removal IS NOT NULL;

CREATE TABLE agents (
  id text PRIMARY KEY,
  root_id text NOT NULL,
  parent_id text,
  name text NOT NULL,
  session_key text NOT NULL,
  origin text NOT NULL,
  depth integer NOT NULL,
  config text NOT NULL,
  status text NOT NULL,
  state text NOT NULL,
  last_seq bigint NOT NULL,
  forked_from text,
  forked_seq bigint,
  mail_count bigint NOT NULL DEFAULT 0,
  living_children integer NOT NULL DEFAULT 0,
  worker text,
  epoch bigint NOT NULL DEFAULT 1,
  calls bigint NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cached_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost_usd double precision,
  doing text,
  reply text,
  sent_this_turn boolean NOT NULL DEFAULT false,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ended_at bigint,
  number bigint GENERATED ALWAYS AS IDENTITY,
  noticed bigint NOT NULL DEFAULT 0,
  reaped_at bigint,
  deaths integer NOT NULL DEFAULT 0,
  -- A mark of the last write of a leader that nothing else tells apart from its repetition: a step without messages, or a claim.
  last_write text,
  budget text
) STRICT;
CREATE INDEX agents_by_root ON agents (root_id, created_at);
CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX agents_by_worker ON agents (worker) WHERE worker IS NOT NULL;
CREATE INDEX agents_by_prefix ON agents (id text_pattern_ops); -- postgres
CREATE INDEX agents_by_name ON agents (name);
CREATE INDEX agents_by_session_key ON agents (session_key);
CREATE INDEX agents_roots ON agents (created_at) WHERE parent_id IS NULL;
CREATE INDEX agents_conversations ON agents (created_at) WHERE origin = 'root';
CREATE INDEX agents_by_time ON agents (created_at, number); -- postgres
CREATE INDEX agents_by_time ON agents (created_at); -- sqlite
CREATE INDEX agents_by_folder ON agents ((config::json->>'cwd'), created_at, number) WHERE origin = 'root'; -- postgres
CREATE INDEX agents_by_folder ON agents (json_extract(config, '$.cwd'), created_at) WHERE origin = 'root'; -- sqlite
CREATE INDEX agents_by_kind ON agents ((coalesce(config::json->>'profile', '')), (config::json->>'model'), created_at, number); -- postgres
CREATE INDEX agents_by_kind ON agents (coalesce(json_extract(config, '$.profile'), ''), json_extract(config, '$.model'), created_at); -- sqlite

CREATE TABLE messages (
  agent_id text NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  content text NOT NULL,
  at bigint NOT NULL,
  changed text,
  PRIMARY KEY (agent_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_by_file ON messages (changed, at) WHERE changed IS NOT NULL;

CREATE TABLE mail (
  id text PRIMARY KEY,
  root_id text NOT NULL,
  to_id text NOT NULL,
  from_id text,
  from_name text NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  number bigint NOT NULL,
  sent_at bigint NOT NULL,
  consumed_seq bigint,
  images text,
  did text,
  UNIQUE (to_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_pending ON mail (to_id, number) WHERE consumed_seq IS NULL;

CREATE TABLE requests (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text NOT NULL,
  model text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_usd double precision,
  started_at bigint NOT NULL,
  duration_ms bigint NOT NULL
) STRICT;
CREATE INDEX requests_by_agent ON requests (agent_id, id);

CREATE TABLE wait_edges (
  waiter text NOT NULL,
  target text NOT NULL,
  -- Null: the edge never ends by itself.
  until bigint,
  PRIMARY KEY (waiter, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_edges_by_target ON wait_edges (target);

CREATE TABLE workers (
  id text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  expires_at bigint NOT NULL,
  role text NOT NULL DEFAULT 'run',
  labels text NOT NULL DEFAULT '[]',
  draining boolean NOT NULL DEFAULT false,
  started_at bigint NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE signals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker text NOT NULL,
  agent_id text NOT NULL,
  kind text NOT NULL,
  about text
) STRICT;
CREATE INDEX signals_by_worker ON signals (worker, id);

CREATE TABLE subagent_runs (
  id text PRIMARY KEY,
  root_id text NOT NULL,
  agent_id text NOT NULL UNIQUE, -- postgres
  agent_id text NOT NULL, -- sqlite
  source text NOT NULL,
  session_key text NOT NULL,
  requester_id text,
  requester_key text NOT NULL,
  task text NOT NULL,
  label text,
  model text NOT NULL,
  thinking text NOT NULL,
  timeout_ms bigint,
  cleanup text NOT NULL,
  status text NOT NULL,
  result text,
  error text,
  created_at bigint NOT NULL,
  started_at bigint,
  finished_at bigint,
  duration_ms bigint,
  number bigint GENERATED ALWAYS AS IDENTITY,
  deliver text NOT NULL DEFAULT '[]',
  job_id text,
  cleaned_at bigint,
  outcome text,
  outcome_text text
) STRICT;
CREATE UNIQUE INDEX subagent_runs_by_agent ON subagent_runs (agent_id); -- sqlite
CREATE INDEX subagent_runs_by_prefix ON subagent_runs (id text_pattern_ops); -- postgres
CREATE INDEX subagent_runs_by_root ON subagent_runs (root_id, created_at);
CREATE INDEX subagent_runs_by_time ON subagent_runs (created_at);
CREATE INDEX subagent_runs_active ON subagent_runs (created_at) WHERE finished_at IS NULL;

CREATE TABLE asks (
  id text PRIMARY KEY,
  root_id text NOT NULL,
  agent_id text NOT NULL,
  agent_name text NOT NULL,
  call_id text NOT NULL,
  tool text NOT NULL,
  subject text NOT NULL,
  input text NOT NULL,
  cwd text NOT NULL,
  rule text NOT NULL,
  asked_at bigint NOT NULL,
  verdict text,
  scope text,
  note text,
  answered_by text,
  answered_at bigint,
  number bigint GENERATED ALWAYS AS IDENTITY,
  difference text,
  subject_kind text,
  granted text,
  revoked_at bigint
) STRICT;
CREATE INDEX asks_open ON asks (root_id) WHERE verdict IS NULL;
CREATE INDEX asks_by_agent ON asks (agent_id);
CREATE INDEX asks_by_prefix ON asks (id text_pattern_ops); -- postgres
CREATE INDEX asks_by_root ON asks (root_id, asked_at);
CREATE INDEX asks_granted ON asks (root_id) WHERE scope <> 'once' AND revoked_at IS NULL;

CREATE INDEX subagent_runs_by_job ON subagent_runs (job_id, created_at) WHERE job_id IS NOT NULL;
CREATE INDEX subagent_runs_by_session_key ON subagent_runs (session_key, created_at);
CREATE INDEX subagent_runs_by_source ON subagent_runs (source, created_at);
CREATE INDEX subagent_runs_at_work ON subagent_runs (job_id) WHERE finished_at IS NULL AND job_id IS NOT NULL;
CREATE INDEX subagent_runs_queued ON subagent_runs (root_id, created_at) WHERE started_at IS NULL AND finished_at IS NULL;
CREATE INDEX subagent_runs_to_clean ON subagent_runs (finished_at)
  WHERE cleanup = 'delete' AND finished_at IS NOT NULL AND cleaned_at IS NULL AND (source = 'cron' OR deliver <> '[]');

CREATE TABLE cron_jobs (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  root_id text,
  definition text NOT NULL,
  enabled boolean NOT NULL,
  next_at bigint,
  planned_at bigint NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
) STRICT WITH (fillfactor = 80);
CREATE INDEX cron_jobs_due ON cron_jobs (next_at) WHERE enabled AND next_at IS NOT NULL; -- postgres
CREATE INDEX cron_jobs_due ON cron_jobs (next_at) WHERE enabled = 1 AND next_at IS NOT NULL; -- sqlite
CREATE INDEX cron_jobs_planned ON cron_jobs (planned_at) WHERE enabled AND next_at IS NOT NULL; -- postgres
CREATE INDEX cron_jobs_planned ON cron_jobs (planned_at) WHERE enabled = 1 AND next_at IS NOT NULL; -- sqlite
CREATE INDEX cron_jobs_by_root ON cron_jobs (root_id) WHERE root_id IS NOT NULL;
CREATE INDEX cron_jobs_by_prefix ON cron_jobs (id text_pattern_ops); -- postgres

CREATE TABLE cron_fires (
  job_id text NOT NULL,
  instant bigint NOT NULL,
  manual boolean NOT NULL,
  outcome text NOT NULL,
  missed bigint NOT NULL,
  run_id text,
  fired_at bigint NOT NULL,
  PRIMARY KEY (job_id, instant, manual)
) STRICT, WITHOUT ROWID;
CREATE INDEX cron_fires_queued ON cron_fires (job_id) WHERE outcome = 'queued';
CREATE INDEX cron_fires_by_time ON cron_fires (job_id, fired_at, instant);

CREATE TABLE deliveries (
  id text PRIMARY KEY,
  kind text NOT NULL,
  target text NOT NULL,
  channel text NOT NULL,
  root_id text NOT NULL,
  agent_id text NOT NULL,
  about text,
  body text,
  created_at bigint NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  attempts bigint NOT NULL DEFAULT 0,
  next_at bigint NOT NULL,
  worker text,
  error text,
  progress text,
  ended_at bigint,
  number bigint GENERATED ALWAYS AS IDENTITY
) STRICT WITH (fillfactor = 80);
CREATE INDEX deliveries_due ON deliveries (channel, next_at) WHERE status = 'pending';
CREATE INDEX deliveries_by_about ON deliveries (about) WHERE about IS NOT NULL;
CREATE INDEX deliveries_by_time ON deliveries (created_at);
CREATE INDEX deliveries_by_prefix ON deliveries (id text_pattern_ops); -- postgres
CREATE INDEX deliveries_failed ON deliveries (created_at) WHERE status = 'failed';
CREATE INDEX deliveries_pending ON deliveries (created_at) WHERE status = 'pending';
CREATE INDEX deliveries_delivered ON deliveries (ended_at, id) WHERE status = 'delivered';

CREATE TABLE channel_seats (channel text PRIMARY KEY, worker text NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE channel_notes (
  channel text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (channel, key)
) STRICT, WITHOUT ROWID;

-- Agents of served trees that have something to do and no worker; due_at: not before then, milliseconds since the epoch.
CREATE TABLE unled (
  root_id text NOT NULL,
  agent_id text NOT NULL,
  due_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (root_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unled_due ON unled (due_at, root_id);

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

CREATE TABLE instructions (
  root_id text PRIMARY KEY,
  text text NOT NULL
) STRICT;

-- No index looks at what changes with every step of an agent, so that a step rewrites one row and no index.
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
`;
