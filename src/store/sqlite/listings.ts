import type { DatabaseSync } from 'node:sqlite';
import type { Ask } from '../../core/ask.ts';
import type { Run } from '../../core/run.ts';
import { askOf, type Row, runOf } from '../rows.ts';
import type { RunFilter, Store } from '../store.ts';

/** Lists for people: the run history and what they are asked. */
const MAX_FOUND = 20;

export function listRuns(database: DatabaseSync, filter: RunFilter): Run[] {
  const sql = `SELECT * FROM subagent_runs WHERE (?1 IS NULL OR root_id = ?1) AND (?2 IS NULL OR source = ?2)
    ${filter.job_id === undefined ? '' : 'AND job_id = ?4'}
    ${filter.active ? 'AND finished_at IS NULL' : ''} ORDER BY created_at DESC, rowid DESC LIMIT ?3`;
  const values: (string | number | null)[] = [
    filter.root_id ?? null,
    filter.source ?? null,
    filter.limit ?? -1,
  ];
  if (filter.job_id !== undefined) values.push(filter.job_id);
  return (database.prepare(sql).all(...values) as Row[]).map(runOf);
}

/** A range finds prefixes without wildcards, so nothing in the text is special. */
function range(text: string): [string, string] {
  return text.length >= 4 ? [text.toLowerCase(), `${text.toLowerCase()}\u{10ffff}`] : [text, text];
}

export function findRuns(database: DatabaseSync, text: string): Run[] {
  const sql = `SELECT * FROM subagent_runs WHERE id = ?1 OR (id >= ?2 AND id < ?3) OR session_key = ?1
    ORDER BY created_at DESC LIMIT ${MAX_FOUND}`;
  const found = (database.prepare(sql).all(text, ...range(text)) as Row[]).map(runOf);
  const exact = found.find((run) => run.id === text);
  return exact === undefined ? found : [exact];
}

export function listAsks(database: DatabaseSync, filter: Parameters<Store['asks']>[0]): Ask[] {
  const sql = `SELECT * FROM asks WHERE (?1 IS NULL OR root_id = ?1) AND (?2 IS NULL OR agent_id = ?2)
    ${filter.open ? 'AND verdict IS NULL' : ''} ORDER BY asked_at, rowid`;
  const values = [filter.root_id ?? null, filter.agent_id ?? null];
  return (database.prepare(sql).all(...values) as Row[]).map(askOf);
}

export function findAsks(database: DatabaseSync, text: string): Ask[] {
  const sql = `SELECT * FROM asks WHERE id = ?1 OR (id >= ?2 AND id < ?3) ORDER BY asked_at DESC LIMIT ${MAX_FOUND}`;
  return (database.prepare(sql).all(text, ...range(text)) as Row[]).map(askOf);
}
