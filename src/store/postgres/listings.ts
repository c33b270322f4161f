import type { RunFilter, Store } from '../store.ts';
import { where } from '../where.ts';

/** A list for people: the run history and what they are asked. */
export interface Listing {
  readonly name: string;
  readonly sql: string;
  readonly values: readonly unknown[];
}

const MAX_FOUND = 20;
/** Nothing in the text is a wildcard, and the index finds the range. */
const BY_PREFIX = `(length($1) >= 4 AND id ~>=~ lower($1) AND id ~<~ (lower($1) || 'g'))`;

export function runsQuery({ root_id, source, job_id, active = false, limit }: RunFilter): Listing {
  const { sql, values, next } = where('$', { root_id, source, job_id }, [active && 'finished_at IS NULL']);
  return {
    name: 'runs',
    sql: `SELECT * FROM subagent_runs ${sql} ORDER BY created_at DESC, number DESC LIMIT ${next}`,
    values: [...values, limit ?? null],
  };
}

export function findRunsQuery(text: string): Listing {
  return {
    name: 'find_runs',
    sql: `SELECT * FROM subagent_runs WHERE id = $1 OR session_key = $1 OR ${BY_PREFIX} ORDER BY created_at DESC LIMIT ${MAX_FOUND}`,
    values: [text],
  };
}

export function asksQuery({ root_id, agent_id, open = false }: Parameters<Store['asks']>[0]): Listing {
  const { sql, values } = where('$', { root_id, agent_id }, [open && 'verdict IS NULL']);
  return { name: 'asks', sql: `SELECT * FROM asks ${sql} ORDER BY asked_at, number`, values };
}

export function findAsksQuery(text: string): Listing {
  return {
    name: 'find_asks',
    sql: `SELECT * FROM asks WHERE id = $1 OR ${BY_PREFIX} ORDER BY asked_at DESC LIMIT ${MAX_FOUND}`,
    values: [text],
  };
}
