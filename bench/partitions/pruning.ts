import type pg from 'pg';
import type { HotQuery } from './hot-queries.ts';

/** Partitions of each table that a statement looks into, `agents 16`; a table that is whole is left out. `told`: if it said which tree it means. */
export async function pruning(
  client: pg.Client,
  query: HotQuery,
  values: Readonly<Record<HotQuery['values'][number], unknown>>,
  told = false,
): Promise<string> {
  const text = told ? (query.told ?? query.sql) : query.sql;
  const names = told && query.told !== undefined ? [...query.values, 'tree' as const] : query.values;
  const { rows } = await client.query(
    `EXPLAIN (FORMAT JSON) ${text}`,
    names.map((name) => values[name]),
  );
  const touched = new Map<string, Set<string>>();
  collect(rows[0]['QUERY PLAN'], (relation) => {
    const [, table] = /^(.+)_p\d+$/.exec(relation) ?? [];
    if (table === undefined) return;
    touched.set(table, (touched.get(table) ?? new Set()).add(relation));
  });
  return [...touched].map(([table, partitions]) => `${table} ${partitions.size}`).join(', ');
}

function collect(node: unknown, see: (relation: string) => void): void {
  if (Array.isArray(node)) for (const one of node) collect(one, see);
  else if (typeof node === 'object' && node !== null)
    for (const [key, value] of Object.entries(node))
      if (key === 'Relation Name') see(String(value));
      else collect(value, see);
}
