import { join } from 'node:path';
import { killRun, LEADER } from './kill-run.ts';
import { readRunLedger } from './run-ledger.ts';
import { TREE_KINDS } from './tree-rules.ts';
import { kindOf, treeShape } from './tree-shape.ts';

/** How trees of each kind end when nobody is killed. `folder` is empty; throws when they do not end. */
export async function undisturbedShapes(
  folder: string,
  cache: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const trees = Object.keys(TREE_KINDS).map((kind) => `${kind}-0`);
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const terms = { trees, folder, database, cache, width: trees.length };
  const { troubles } = await killRun({ ...terms, book: null, leader: LEADER });
  if (troubles.length > 0) throw new Error(`an undisturbed run did not end: ${troubles.join('; ')}`);
  const ledger = await readRunLedger(database);
  const roots = [...ledger.agents.values()].filter(({ parent_id }) => parent_id === null);
  const shapes = new Map(roots.map((root) => [kindOf(root), treeShape(root, ledger)]));
  ledger.database.close();
  return shapes;
}
