import type { DatabaseSync } from 'node:sqlite';
import type { Limits } from '../../src/records/agent/limits.ts';
import { OF_WORKFLOWS } from '../../src/store/ledger/sql-conditions.ts';
import { brokenClaims } from './task-laws.ts';

const ENDED = "('completed', 'failed', 'killed')";

type Row = Record<string, string | number | null>;

/** Returns the laws for any moment that the ledger breaks now, in words; empty if none. */
export function brokenNow(database: DatabaseSync): string[] {
  return [
    ...budgets(database),
    ...childrenOfTheDead(database),
    ...circles(database),
    ...ledUnled(database),
    ...brokenClaims(database),
  ];
}

/** Law 7: the counters match the rows, and no limit is exceeded. */
function budgets(database: DatabaseSync): string[] {
  const trees = database
    .prepare(
      `SELECT trees.root_id, limits, live, total, sum(status NOT IN ${ENDED}) AS living, count(*) AS known,
        max(CASE WHEN ${OF_WORKFLOWS} THEN 0 ELSE depth END) AS depth, sum(${OF_WORKFLOWS}) AS scripted
        FROM trees JOIN agents ON agents.root_id = trees.root_id GROUP BY trees.root_id`,
    )
    .all() as Row[];
  const broken = trees.flatMap(({ root_id, limits, live, total, living, known, depth, scripted }) => {
    const allowed = JSON.parse(limits as string) as Limits;
    // Agents at rest do not count towards the other limits and may be woken later, so only these limits hold at any moment.
    const over = (name: 'total' | 'depth', present: unknown) =>
      Number(present) > allowed[name] ? [`law 7: ${present} is over the limit ${name}=${allowed[name]}`] : [];
    return [
      ...(live === living
        ? []
        : [`law 7: the tree ${root_id} counts ${live} living agents and has ${living}`]),
      ...(Number(total) >= Number(known)
        ? []
        : [`law 7: the tree ${root_id} counts ${total} agents and has ${known}`]),
      // Those of workflows count towards the calls of their run.
      ...over('total', Number(total) - Number(scripted)),
      ...over('depth', depth),
    ];
  });
  const parents = database
    .prepare(
      `SELECT id, living_children, (SELECT count(*) FROM agents below WHERE below.parent_id = agents.id
        AND below.status NOT IN ${ENDED}) AS living FROM agents WHERE living_children <> living`,
    )
    .all() as Row[];
  return [
    ...broken,
    ...parents.map(
      (row) => `law 7: ${row.id} counts ${row.living_children} living children and has ${row.living}`,
    ),
  ];
}

/** Every agent listed as unled is alive and led by nobody. */
function ledUnled(database: DatabaseSync): string[] {
  const rows = database
    .prepare(
      `SELECT unled.agent_id FROM unled LEFT JOIN agents ON agents.id = unled.agent_id
        WHERE agents.id IS NULL OR agents.worker IS NOT NULL OR agents.status IN ${ENDED}`,
    )
    .all() as Row[];
  return rows.map((row) => `${row.agent_id} is written down as led by nobody`);
}

/** Law 9: no child of a killed agent is alive. */
function childrenOfTheDead(database: DatabaseSync): string[] {
  const rows = database
    .prepare(
      `SELECT agents.id FROM agents JOIN agents above ON above.id = agents.parent_id
        WHERE above.status = 'killed' AND agents.status NOT IN ${ENDED}`,
    )
    .all() as Row[];
  return rows.map((row) => `law 9: ${row.id} lives although its parent was killed`);
}

/** Law 10: no cycle of waits without a timeout. */
function circles(database: DatabaseSync): string[] {
  // Waits with a timeout may form a cycle: it ends when the first of them times out.
  const targets = new Map<string, string[]>();
  const endless = 'SELECT waiter, target FROM wait_edges WHERE until IS NULL';
  for (const { waiter, target } of database.prepare(endless).all() as Row[]) {
    const known = targets.get(waiter as string);
    if (known === undefined) targets.set(waiter as string, [target as string]);
    else known.push(target as string);
  }
  const done = new Set<string>();
  const open = new Set<string>();
  const closes = (id: string): boolean => {
    if (open.has(id)) return true;
    if (done.has(id)) return false;
    open.add(id);
    const found = (targets.get(id) ?? []).some(closes);
    open.delete(id);
    done.add(id);
    return found;
  };
  return [...targets.keys()].filter(closes).map((id) => `law 10: ${id} waits in a circle`);
}
