import type { DatabaseSync } from 'node:sqlite';
import type { Ask } from '../../core/ask.ts';
import type { Run } from '../../core/run.ts';
import { askOf, type Row, runOf } from '../rows.ts';
import type { RunFilter, Store } from '../store.ts';
import { where } from '../where.ts';

/** Lists for people: the run history and what they are asked. */
const MAX_FOUND = 20;

export function listRuns(
  database: DatabaseSync,
  { root_id, source, job_id, active = false, limit }: RunFilter,
): Run[] {
  const { sql, values, next } = where('?', { root_id, source, job_id }, [active && 'finished_at IS NULL']);
  const text = `SELECT * FROM subagent_runs ${sql} ORDER BY created_at DESC, rowid DESC LIMIT ${next}`;
  return (database.prepare(text).all(...values, limit ?? -1) as Row[]).map(runOf);
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

export function listAsks(
  database: DatabaseSync,
  { root_id, agent_id, open = false }: Parameters<Store['asks']>[0],
): Ask[] {
  const { sql, values } = where('?', { root_id, agent_id }, [open && 'verdict IS NULL']);
  const text = `SELECT * FROM asks ${sql} ORDER BY asked_at, rowid`;
  return (database.prepare(text).all(...values) as Row[]).map(askOf);
}

export function findAsks(database: DatabaseSync, text: string): Ask[] {
  const sql = `SELECT * FROM asks WHERE id = ?1 OR (id >= ?2 AND id < ?3) ORDER BY asked_at DESC LIMIT ${MAX_FOUND}`;
  return (database.prepare(sql).all(text, ...range(text)) as Row[]).map(askOf);
}
