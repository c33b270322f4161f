import type { FactKind, FactKinds } from '../../kernel/ledger/facts.ts';
import { FREE_BATCH } from '../../kernel/ledger/leases.ts';
import { QUEUED_BATCH } from '../../kernel/ledger/run-history.ts';
import type { TaskRow } from '../../records/run/listed-task.ts';
import type { JoinByKey } from './database.ts';
import type { Row } from './rows.ts';
import { isNotBusy, LIVING, OF_WORKFLOWS, UNEXPIRED } from './sql-conditions.ts';

/** How one kind of fact is read, on either database: `sql` for the key `$1`, and `read`, which turns the rows into the fact. */
export interface FactQuery<Kind extends FactKind> {
  readonly sql: string | ((join: JoinByKey) => string);
  readonly read: (rows: readonly Row[]) => FactKinds[Kind];
  /** The query finds at most one row. */
  readonly single?: true;
  /** What is locked until the transaction ends, for facts that the lock of a tree does not cover: the rows found, or the key itself, even without any row. */
  readonly locks?: 'rows' | 'key';
}

function row<Kind extends FactKind>(sql: string, ...booleans: readonly string[]): FactQuery<Kind> {
  const read = ([found]: readonly Row[]) => {
    if (found === undefined) return null;
    for (const column of booleans) found[column] = Boolean(found[column]) as never;
    return found;
  };
  return { sql, read: read as FactQuery<Kind>['read'], single: true };
}

function rows<Kind extends FactKind>(sql: FactQuery<Kind>['sql']): FactQuery<Kind> {
  return { sql, read: (found) => found as unknown as FactKinds[Kind] };
}

/** A fact that is a list: the only column of each row. */
function list<Kind extends FactKind>(sql: FactQuery<Kind>['sql']): FactQuery<Kind> {
  return { sql, read: (found) => found.map((one) => Object.values(one)[0]) as unknown as FactKinds[Kind] };
}

/** A fact that is the only column of the only row, or null. */
function value<Kind extends FactKind>(sql: string): FactQuery<Kind> {
  const read = ([found]: readonly Row[]) => (found === undefined ? null : Object.values(found)[0]);
  return { sql, read: read as FactQuery<Kind>['read'] };
}

/** A fact that says whether there is any such row. */
function any<Kind extends FactKind>(sql: string): FactQuery<Kind> {
  return { sql: `${sql} LIMIT 1`, read: (found) => (found.length > 0) as FactKinds[Kind] };
}

/** The task list of the tree $1, by number. */
export const TASKS = `SELECT t.number, t.title, t.depends_on, t.done, t.agent_id, t.agent_name, t.result, t.added_by, t.call_id, t.added_at, t.changed_at,
    EXISTS (SELECT 1 FROM agents WHERE id = t.agent_id AND ${LIVING}) AS alive
  FROM tasks t WHERE t.root_id = $1 ORDER BY t.number`;

export function tasksOf(found: readonly Row[]): TaskRow[] {
  return found.map(
    (one) => ({ ...one, done: Boolean(one.done), alive: Boolean(one.alive) }) as unknown as TaskRow,
  );
}

export const FACT_QUERIES: { readonly [Kind in FactKind]: FactQuery<Kind> } = {
  tree: row(
    `SELECT root_id, limits, live, total, tokens, cost_usd, coalesce(cached_tokens, 0) AS cached_tokens,
      coalesce(reserved_tokens, 0) AS reserved_tokens, coalesce(reserved_usd, 0) AS reserved_usd, served, removal FROM trees WHERE root_id = $1`,
    'served',
  ),
  agent:
    row(`SELECT id, root_id, parent_id, name, session_key, origin, depth, status, last_seq, mail_count, noticed, living_children, worker, epoch,
    deaths, calls, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, budget, last_write FROM agents WHERE id = $1`),
  mail: row('SELECT id, to_id, from_id, kind, number, consumed_seq FROM mail WHERE id = $1'),
  pending: rows(
    'SELECT id, kind, number FROM mail WHERE to_id = $1 AND consumed_seq IS NULL ORDER BY number',
  ),
  edges: rows('SELECT target, until FROM wait_edges WHERE waiter = $1 ORDER BY target'),
  reach: list(
    (join) => `WITH RECURSIVE reach (id) AS (
      SELECT $1 UNION SELECT e.target FROM reach ${join('wait_edges', 'e', 'e.waiter = reach.id')}
    ) SELECT id FROM reach`,
  ),
  waiters: list('SELECT waiter FROM wait_edges WHERE target = $1 ORDER BY waiter'),
  below: list(
    (join) => `WITH RECURSIVE below (id, status, place) AS (
      SELECT id, status, 0 FROM agents WHERE id = $1
      UNION ALL SELECT g.id, g.status, below.place + 1 FROM below ${join('agents', 'g', 'g.parent_id = below.id')}
    ) SELECT id FROM below WHERE ${LIVING} ORDER BY place, id`,
  ),
  children: list(
    'SELECT id FROM agents WHERE parent_id = $1 UNION ALL SELECT id FROM agents WHERE forked_from = $1 AND was IS NOT NULL',
  ),
  resting_children: value(`SELECT count(*) FROM agents WHERE parent_id = $1 AND ${isNotBusy('agents')}`),
  resting_in_tree: value(`SELECT count(*) FROM agents WHERE root_id = $1 AND ${isNotBusy('agents')}`),
  scripted_in_tree: value(`SELECT count(*) FROM agents WHERE root_id = $1 AND ${OF_WORKFLOWS}`),
  run: row(
    'SELECT id, root_id, agent_id, started_at, finished_at, deliver, cleaned_at FROM subagent_runs WHERE agent_id = $1',
  ),
  tasks: { sql: TASKS, read: tasksOf },
  queued: rows(
    (join) => `SELECT g.id, g.worker FROM subagent_runs r ${join('agents', 'g', 'g.id = r.agent_id')}
      WHERE r.root_id = (SELECT root_id FROM agents WHERE id = $1 AND origin = 'session') AND r.started_at IS NULL AND r.finished_at IS NULL
        AND g.origin = 'session' AND g.worker IS NOT NULL
      ORDER BY r.created_at, r.agent_id LIMIT ${QUEUED_BATCH}`,
  ),
  ask: row(
    'SELECT id, root_id, agent_id, verdict, scope, note, answered_by, answered_at FROM asks WHERE id = $1',
  ),
  open_asks: list('SELECT id FROM asks WHERE agent_id = $1 AND verdict IS NULL'),
  unled: value(
    'SELECT due_at FROM unled WHERE agent_id = $1 AND root_id = (SELECT root_id FROM agents WHERE id = $1)',
  ),
  members: list(`SELECT id FROM agents WHERE root_id = $1 AND ${LIVING}`),
  state: value('SELECT state FROM agents WHERE id = $1'),
  config: value('SELECT config FROM agents WHERE id = $1'),
  spoken: rows(
    "SELECT kind, content FROM messages WHERE agent_id = $1 AND kind IN ('user', 'assistant') ORDER BY seq DESC LIMIT 200",
  ),
  // All columns: a process of schema 13 that is still running decides by `expires_at`.
  worker: row(`SELECT w.*, ${UNEXPIRED} AS leased FROM workers w WHERE w.id = $1`, 'leased'),
  held: list(`SELECT id FROM agents WHERE worker = $1 LIMIT ${FREE_BATCH}`),
  told: list('SELECT agent_id FROM signals WHERE worker = $1'),
  // Comes before the other facts of jobs: they are read under its lock.
  enabled_jobs: {
    ...value('SELECT count(*) FROM cron_jobs WHERE root_id = $1 AND enabled'),
    locks: 'key',
  },
  job: {
    ...row('SELECT id, version, enabled, next_at FROM cron_jobs WHERE id = $1', 'enabled'),
    locks: 'rows',
  },
  job_named: value('SELECT id FROM cron_jobs WHERE name = $1'),
  job_at_work: any(`SELECT id FROM subagent_runs WHERE job_id = $1 AND finished_at IS NULL`),
  waiting_fire: row(
    "SELECT instant, manual FROM cron_fires WHERE job_id = $1 AND outcome = 'queued'",
    'manual',
  ),
  fire: row(`SELECT outcome, fired_at FROM cron_fires WHERE job_id = substr($1, 18)
    AND instant = CAST(substr($1, 1, 16) AS bigint) AND manual = (substr($1, 17, 1) = 't')`),
};

export function factSql({ sql }: Pick<FactQuery<FactKind>, 'sql'>, join: JoinByKey): string {
  return typeof sql === 'string' ? sql : sql(join);
}
