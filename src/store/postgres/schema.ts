/** Migrations of the PostgreSQL ledger: numbered, forward only. The schema is described in docs/ledger.md. */
export const POSTGRES_MIGRATIONS: readonly { readonly number: number; readonly sql: string }[] = [
  {
    number: 1,
    sql: `
CREATE TABLE trees (
  root_id text PRIMARY KEY,
  limits text NOT NULL,
  live bigint NOT NULL,
  total bigint NOT NULL,
  tokens bigint NOT NULL DEFAULT 0,
  cost_usd double precision NOT NULL DEFAULT 0
);

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
  number bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 80);
CREATE INDEX agents_by_root ON agents (root_id, created_at);
CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX agents_by_worker ON agents (worker) WHERE worker IS NOT NULL;
CREATE INDEX agents_by_prefix ON agents (id text_pattern_ops);
CREATE INDEX agents_by_name ON agents (name);
CREATE INDEX agents_by_session_key ON agents (session_key);
CREATE INDEX agents_roots ON agents (created_at) WHERE parent_id IS NULL;

CREATE TABLE messages (
  agent_id text NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  content text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (agent_id, seq)
);

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
  UNIQUE (to_id, number)
);
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
);
CREATE INDEX requests_by_agent ON requests (agent_id, id);

CREATE TABLE wait_edges (
  waiter text NOT NULL,
  target text NOT NULL,
  PRIMARY KEY (waiter, target)
);
CREATE INDEX wait_edges_by_target ON wait_edges (target);

CREATE TABLE workers (
  id text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  expires_at bigint NOT NULL
);

CREATE TABLE signals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker text NOT NULL,
  agent_id text NOT NULL,
  kind text NOT NULL,
  about text
);
CREATE INDEX signals_by_worker ON signals (worker, id);
`,
  },
  {
    number: 2,
    sql: `
ALTER TABLE agents ADD COLUMN noticed bigint NOT NULL DEFAULT 0;

CREATE TABLE subagent_runs (
  id text PRIMARY KEY,
  root_id text NOT NULL,
  agent_id text NOT NULL UNIQUE,
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
  number bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX subagent_runs_by_prefix ON subagent_runs (id text_pattern_ops);
CREATE INDEX subagent_runs_by_root ON subagent_runs (root_id, created_at);
CREATE INDEX subagent_runs_by_time ON subagent_runs (created_at);
CREATE INDEX subagent_runs_active ON subagent_runs (created_at) WHERE finished_at IS NULL;
`,
  },
  {
    number: 3,
    sql: `
ALTER TABLE agents ADD COLUMN reaped_at bigint;

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
  number bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX asks_open ON asks (root_id) WHERE verdict IS NULL;
CREATE INDEX asks_by_agent ON asks (agent_id);
CREATE INDEX asks_by_prefix ON asks (id text_pattern_ops);
`,
  },
];
