import type { FactKind } from '../../kernel/ledger/facts.ts';
import { type ColumnType, TABLES, type Table } from '../../kernel/ledger/tables.ts';
import type { JoinByKey } from '../ledger/database.ts';
import { FACT_QUERIES, type FactQuery, factSql } from '../ledger/fact-queries.ts';
import { LIVING } from '../ledger/sql-conditions.ts';

/*
 * Functions in the database that read facts and write rows, each in one round trip, and decide nothing. They are generated from what both databases share:
 * the queries of facts and the columns of tables. A change to what they take or return needs a new migration, because only migrations install them.
 */

const NOW = `
CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
`;

/** Kinds of facts for which the tree is locked; all others are read under such a lock, or need none. */
const AGENTS_LOCK = ['agent', 'below'] as const;
const TREES_LOCK = ['tree', 'members'] as const;

const keysOf = (kind: string) => `SELECT jsonb_array_elements_text(w->'${kind}') AS k`;

export const join: JoinByKey = (table, name, on) =>
  `CROSS JOIN LATERAL (SELECT * FROM ${table} ${name} WHERE ${on} OFFSET 0) AS ${name}`;

const MEMBERS = `(${keysOf('members')}) AS a ${join('agents', 'g', `g.root_id = k AND g.${LIVING}`)}`;
/** Keys by kind, with those that will be needed next: parents, waiters, the members of a tree and their workers. */
const KEYS: Readonly<Record<string, string>> = {
  tree: 'SELECT unnest(trees_of) AS k',
  agent: `${keysOf('agent')} UNION SELECT g.parent_id FROM (${keysOf('agent')}) AS a ${join('agents', 'g', 'g.id = k')} WHERE g.parent_id IS NOT NULL
      UNION SELECT e.waiter FROM (${keysOf('waiters')}) AS a ${join('wait_edges', 'e', 'e.target = k')}
      UNION SELECT q.agent_id FROM (${keysOf('ask')}) AS a ${join('asks', 'q', 'q.id = k')}
      UNION SELECT g.id FROM ${MEMBERS}`,
  worker: `${keysOf('worker')} UNION SELECT g.worker FROM ${MEMBERS} WHERE g.worker IS NOT NULL`,
};
const ASKED: Readonly<Record<string, string>> = {
  tree: 'trees_of IS NOT NULL',
  agent: "w ?| ARRAY['agent', 'waiters', 'ask', 'members']",
  worker: "w ?| ARRAY['worker', 'members']",
};

const readKind = ([kind, query]: [string, Pick<FactQuery<FactKind>, 'sql' | 'locks'>]) => `
  IF ${ASKED[kind] ?? `w ? '${kind}'`} THEN${query.locks === 'key' ? `\n    PERFORM pg_advisory_xact_lock(hashtext('coppice_${kind}'), hashtext(k)) FROM (${keysOf(kind)} ORDER BY 1) AS a;` : ''}
    kind := '${kind}';
    SELECT json_object_agg(k, (SELECT json_agg(one) FROM (${factSql(query, join).replaceAll('$1', 'k')}${query.locks === 'rows' ? ' FOR UPDATE' : ''}) AS one)) INTO answer
    FROM (${KEYS[kind] ?? keysOf(kind)}) AS keys;
    RETURN NEXT;
  END IF;`;

/** Locks the trees in one global order, then reads what the last holder of the locks committed. */
const FACTS = `
CREATE OR REPLACE FUNCTION coppice_facts(w jsonb) RETURNS TABLE (kind text, answer json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE trees_of text[];
BEGIN
  SELECT array_agg(DISTINCT k) INTO trees_of FROM (
    ${AGENTS_LOCK.map((kind) => `SELECT (SELECT g.root_id FROM agents g WHERE g.id = k) AS k FROM (${keysOf(kind)}) AS a`).join(' UNION ALL ')}
    UNION ALL ${TREES_LOCK.map(keysOf).join(' UNION ALL ')}
    UNION ALL SELECT (SELECT q.root_id FROM asks q WHERE q.id = k) FROM (${keysOf('ask')}) AS a
  ) AS t WHERE k IS NOT NULL;
  PERFORM 1 FROM trees WHERE root_id = ANY (trees_of) ORDER BY root_id FOR UPDATE;
  kind := 'now'; answer := to_json(coppice_now()); RETURN NEXT;
${Object.entries(FACT_QUERIES).map(readKind).join('')}
END $$;
`;

const TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  int: 'bigint',
  real: 'double precision',
  bool: 'boolean',
};

function writesOf([name, { key, columns }]: [string, Table]): string {
  const all = Object.keys(columns).join(', ');
  const typed = Object.entries(columns).map(([column, type]) => `${column} ${TYPES[type]}`);
  const typeOf = (column: string) => TYPES[columns[column] as ColumnType];
  const isIt = key.map((column) => `t.${column} = (x->>'${column}')::${typeOf(column)}`).join(' AND ');
  const rest = Object.keys(columns).filter((column) => !key.includes(column));
  const set = rest.map(
    (column) =>
      `${column} = CASE WHEN x ? '${column}' THEN (x->>'${column}')::${typeOf(column)} ELSE t.${column} END`,
  );
  const insert = (op: string, conflict = '') => `
    IF c ? '${op}' THEN
      INSERT INTO ${name} AS t (${all}) SELECT ${all} FROM jsonb_to_recordset(c->'${op}') AS x (${typed.join(', ')})${conflict};
    END IF;`;
  const known = `
    FOR x IN SELECT jsonb_array_elements(c->'delete') LOOP DELETE FROM ${name} t WHERE ${isIt}; END LOOP;${insert('insert')}${insert(
      'replace',
      ` ON CONFLICT (${key.join(', ')}) DO ${rest.length === 0 ? 'NOTHING' : `UPDATE SET ${rest.map((column) => `${column} = excluded.${column}`).join(', ')}`}`,
    )}${insert('offer', ' ON CONFLICT DO NOTHING')}
    FOR x IN SELECT jsonb_array_elements(c->'update') LOOP UPDATE ${name} t SET ${set.join(', ')} WHERE ${isIt}; END LOOP;`;
  return `
  c := changes->'${name}';
  IF c IS NOT NULL THEN${key.length === 0 ? insert('insert') : known}
  END IF;`;
}

/** Writes the rows of a commit: inserts of one table in one statement, other changes each by its key, whatever the planner estimates of their number. */
const WRITE = `
CREATE OR REPLACE FUNCTION coppice_write(changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE c jsonb; x jsonb;
BEGIN
  FOR x IN SELECT jsonb_array_elements(changes->'wiped') LOOP
    EXECUTE format('DELETE FROM %I WHERE %I = $1', x->>'table', x->>'column') USING x->>'value';
  END LOOP;
${Object.entries(TABLES).map(writesOf).join('')}
  PERFORM pg_notify(n->>'channel', n->>'text') FROM jsonb_array_elements(changes->'notices') AS n;
END $$;
`;

export const FUNCTIONS = [NOW, FACTS, WRITE].join('\n');
