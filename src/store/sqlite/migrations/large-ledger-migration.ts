/** Schema 6: what large numbers need. */
export const LARGE_LEDGER_MIGRATION = `
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
`;
