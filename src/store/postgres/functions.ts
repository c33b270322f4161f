import type { FactKind } from '../../kernel/ledger/facts.ts';
import { type ColumnType, TABLES, type Table } from '../../kernel/ledger/tables.ts';
import { FACT_QUERIES, type FactQuery, factSql, type JoinByKey } from '../ledger/fact-queries.ts';
import { LIVING } from '../ledger/sql-conditions.ts';

/*
 * What the database does for the ledger: it reads facts and writes rows, each in one round trip, and decides nothing. Both functions are made from what both
 * databases share, the queries of facts and the columns of tables.
 */

const NOW = `
CREATE OR REPLACE FUNCTION coppice_now() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
`;

/** Whose tree is locked for a fact; the other facts are looked at under the lock of another one, or change in ways that need none. */
const AGENTS_LOCK = ['agent', 'below'] as const;
const TREES_LOCK = ['tree', 'members'] as const;

const keysOf = (kind: string) => `SELECT jsonb_array_elements_text(w->'${kind}') AS k`;

const near: JoinByKey = (table, name, on) =>
  `CROSS JOIN LATERAL (SELECT * FROM ${table} ${name} WHERE ${on} OFFSET 0) AS ${name}`;

const MEMBERS = `(${keysOf('members')}) AS a ${near('agents', 'g', `g.root_id = k AND g.${LIVING}`)}`;
/** What is looked at next is told with what was asked for: parents, those who wait, the members of a tree and who leads them. */
const KEYS: Readonly<Record<string, string>> = {
  tree: 'SELECT unnest(trees_of) AS k',
  agent: `${keysOf('agent')} UNION SELECT g.parent_id FROM (${keysOf('agent')}) AS a ${near('agents', 'g', 'g.id = k')} WHERE g.parent_id IS NOT NULL
      UNION SELECT e.waiter FROM (${keysOf('waiters')}) AS a ${near('wait_edges', 'e', 'e.target = k')}
      UNION SELECT q.agent_id FROM (${keysOf('ask')}) AS a ${near('asks', 'q', 'q.id = k')}
      UNION SELECT g.id FROM ${MEMBERS}`,
  worker: `${keysOf('worker')} UNION SELECT g.worker FROM ${MEMBERS} WHERE g.worker IS NOT NULL`,
};
const ASKED: Readonly<Record<string, string>> = {
  tree: 'trees_of IS NOT NULL',
  agent: "w ?| ARRAY['agent', 'waiters', 'ask', 'members']",
  worker: "w ?| ARRAY['worker', 'members']",
};

const lookAt = ([kind, query]: [string, Pick<FactQuery<FactKind>, 'sql' | 'locks'>]) => `
  IF ${ASKED[kind] ?? `w ? '${kind}'`} THEN${query.locks === 'key' ? `\n    PERFORM pg_advisory_xact_lock(hashtext('coppice_${kind}'), hashtext(k)) FROM (${keysOf(kind)} ORDER BY 1) AS a;` : ''}
    kind := '${kind}';
    SELECT json_object_agg(k, (SELECT json_agg(one) FROM (${factSql(query, near).replaceAll('$1', 'k')}${query.locks === 'rows' ? ' FOR UPDATE' : ''}) AS one)) INTO answer
    FROM (${KEYS[kind] ?? keysOf(kind)}) AS keys;
    RETURN NEXT;
  END IF;`;

/** Trees are locked in one order by everybody; what is read afterwards is what the last one who held them left. */
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
${Object.entries(FACT_QUERIES).map(lookAt).join('')}
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

/** Writes the rows of a group: new ones of a table in one statement, others each by its key, whatever the planner thinks of their number. */
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
