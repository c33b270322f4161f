import { RESTING, TERMINAL, WORKING as WORKING_STATES } from '../../records/agent/state.ts';
import { WAKING_MAIL } from '../../records/conversation/mail.ts';
import type { Database, Dialect } from './database.ts';

/*
 * Conditions that several statements share, as SQL that both databases speak. Where a decision in kernel/ledger/ applies the same rule to facts, each place
 * names the other.
 */

function quoted(words: Iterable<string>): string {
  return [...words].map((word) => `'${word}'`).join(', ');
}

/** The agent has not ended. */
export const LIVING = `status NOT IN (${quoted(TERMINAL)})`;

/** The agent has not ended, failed, or was cut short, and is not a fork that only rests; may hold for a few others. */
export const UNSETTLED = `(status NOT IN ('completed', 'killed', 'idle') OR (status <> 'killed' AND state LIKE '%"limit":%')
    OR (status = 'idle' AND (origin <> 'fork' OR ${hasUnread('agents')})))`;

/** The agent is in the middle of a turn. */
export const WORKING = `status IN (${quoted(WORKING_STATES)})`;

/** There is mail that would wake the agent and of which it has not been told yet (`Agent.unread`). `agent`: the name of the table in the statement. */
export function hasUnread(agent: string): string {
  return `EXISTS (SELECT 1 FROM mail news WHERE news.to_id = ${agent}.id AND news.consumed_seq IS NULL
    AND news.kind IN (${quoted(WAKING_MAIL)}) AND news.number > ${agent}.noticed)`;
}

/** There is mail that the agent must read: such that wakes it, unless it was told of it, or an order or outcome. */
export function hasMail(agent: string): string {
  return `EXISTS (SELECT 1 FROM mail news WHERE news.to_id = ${agent}.id AND news.consumed_seq IS NULL
    AND (news.kind NOT IN (${quoted(WAKING_MAIL)}) OR news.number > ${agent}.noticed))`;
}

/** The agent has no turn and nothing that would begin one. The same rule on facts: `UnitOfWork.isAtRest`. */
export function isAtRest(agent: string): string {
  return `${agent}.status IN (${quoted(RESTING)}) AND NOT ${hasUnread(agent)}`;
}

/** A script of a workflow has created the agent. The same rule on records: `isScripted`. */
export const OF_WORKFLOWS = "session_key LIKE 'agent:%:workflow:%'";

/**
 * The agent has not ended and does not count towards limits on busy agents (law 7): it is at rest, a queued run, or of a workflow. On facts, `UnitOfWork` counts
 * what its transaction changes.
 */
export function isNotBusy(agent: string): string {
  return `(${agent}.origin = 'session' AND ${agent}.status = 'idle' OR ${isAtRest(agent)} OR (${agent}.${OF_WORKFLOWS} AND ${agent}.${LIVING}))`;
}

/** The lease of the worker `w` has not run out. */
export const UNEXPIRED = 'w.expires_at > coppice_now()';

/** The worker `w` may lead agents. `gone`: workers whose process no longer exists, as a JSON list. The same rule on facts: `hasLiveLease`. */
export function isWorkerAlive({ elements }: Dialect, gone: string): string {
  const has_process = `w.id NOT IN (SELECT value FROM ${elements(gone)} AS gone)`;
  return [UNEXPIRED, has_process].join(' AND ');
}

/** Maximum rows that a search text finds. */
export const MAX_FOUND = 20;

/** Ids that begin with the text $1, if it has at least four characters; no character of it is a wildcard. */
export function hasPrefix({ prefix_from, prefix_below }: Dialect): string {
  return `(length($1) >= 4 AND id ${prefix_from} lower($1) AND id ${prefix_below} (lower($1) || '~'))`;
}

/** Returns only the exact match, if there is one. */
export function exactMatchOrAll<T>(found: T[], isExact: (one: T) => boolean): T[] {
  const exact = found.find(isExact);
  return exact === undefined ? found : [exact];
}

/** Condition of the rows below a place. If the row there was deleted, those of its millisecond come again, so that none is left out. */
export async function below(db: Database, table: string, place?: string): Promise<string | false> {
  if (place === undefined) return false;
  // Imported on first use: most commands read whole lists.
  const found = (await import('../../records/text/list-place.ts')).readPlace(place);
  if (found === null) return false;
  const { at, id } = found;
  const { row_number } = db.dialect;
  const sql = `SELECT ${row_number} AS number FROM ${table} WHERE id = $1`;
  const [row] = id === undefined ? [{ number: 0 }] : await db.read(sql, [id]);
  return `(created_at, ${row_number}) < (${at}, ${Number(row?.number ?? Number.MAX_SAFE_INTEGER)})`;
}

type Value = string | number | null;

export interface Where {
  /** `WHERE …`, or nothing. */
  readonly sql: string;
  readonly values: readonly Value[];
  /** The placeholder of the next value in the statement. */
  readonly next: string;
}

/** Contains only the conditions that are asked for: a statement that also covered their absence could use no index. `equal`: by column, or by condition with a `?`. */
export function where(
  equal: Readonly<Record<string, Value | undefined>>,
  more: readonly (string | false | undefined)[] = [],
): Where {
  const given = Object.entries(equal).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  const conditions = [
    ...given.map(({ column }, at) =>
      column.includes('?') ? column.replace('?', `$${at + 1}`) : `${column} = $${at + 1}`,
    ),
    ...more.filter((one) => typeof one === 'string'),
  ];
  return {
    sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    values: given.map(({ value }) => value),
    next: `$${given.length + 1}`,
  };
}
