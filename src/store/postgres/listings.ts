import type { RunFilter, Store } from '../store.ts';

/** A list for people: the run history and what they are asked. `name` tells prepared statements apart. */
export interface Listing {
  readonly name: string;
  readonly sql: string;
  readonly values: readonly unknown[];
}

const MAX_FOUND = 20;
/** Nothing in the text is a wildcard, and the index finds the range. */
const BY_PREFIX = `(length($1) >= 4 AND id ~>=~ lower($1) AND id ~<~ (lower($1) || 'g'))`;

export function runsQuery(filter: RunFilter): Listing {
  return {
    name: `runs_${filter.active === true}_${filter.job_id !== undefined}`,
    sql: `SELECT * FROM subagent_runs WHERE ($1::text IS NULL OR root_id = $1) AND ($2::text IS NULL OR source = $2)
      ${filter.job_id === undefined ? '' : 'AND job_id = $4'} ${filter.active ? 'AND finished_at IS NULL' : ''} ORDER BY created_at DESC, number DESC LIMIT $3`,
    values: [
      filter.root_id ?? null,
      filter.source ?? null,
      filter.limit ?? null,
      ...(filter.job_id === undefined ? [] : [filter.job_id]),
    ],
  };
}

export function findRunsQuery(text: string): Listing {
  return {
    name: 'find_runs',
    sql: `SELECT * FROM subagent_runs WHERE id = $1 OR session_key = $1 OR ${BY_PREFIX} ORDER BY created_at DESC LIMIT ${MAX_FOUND}`,
    values: [text],
  };
}

export function asksQuery(filter: Parameters<Store['asks']>[0]): Listing {
  return {
    name: `asks_${filter.open === true}`,
    sql: `SELECT * FROM asks WHERE ($1::text IS NULL OR root_id = $1) AND ($2::text IS NULL OR agent_id = $2)
      ${filter.open ? 'AND verdict IS NULL' : ''} ORDER BY asked_at, number`,
    values: [filter.root_id ?? null, filter.agent_id ?? null],
  };
}

export function findAsksQuery(text: string): Listing {
  return {
    name: 'find_asks',
    sql: `SELECT * FROM asks WHERE id = $1 OR ${BY_PREFIX} ORDER BY asked_at DESC LIMIT ${MAX_FOUND}`,
    values: [text],
  };
}
