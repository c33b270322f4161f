import type { Agent } from '../../records/agent/agent.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { Database } from './database.ts';
import { agentOf, type Row } from './rows.ts';

/** Maximum trees whose instructions are cached for each database; instructions never change. */
const KEPT_MAX = 100;
const TEXTS = new WeakMap<Database, Map<string, string>>();

/**
 * Returns the agents of these rows with their instructions, which are stored once for each tree (`storedConfig`); older rows hold them in the configuration.
 */
export async function agentsOf(db: Database, rows: readonly Row[]): Promise<Agent[]> {
  const agents = rows.map(agentOf);
  const roots = new Set(agents.flatMap((agent) => (refers(agent) ? agent.root_id : [])));
  if (roots.size === 0) return agents;
  const texts = await instructionsOf(db, [...roots]);
  return agents.map((agent) => {
    if (!refers(agent)) return agent;
    const { instructions: _, ...config } = agent.config;
    const text = texts.get(agent.root_id);
    // If there is no text, the tree was removed meanwhile.
    return { ...agent, config: text === undefined ? config : { ...config, instructions: text } };
  });
}

function refers({ config }: Agent): boolean {
  return config.instructions !== undefined && typeof config.instructions !== 'string';
}

async function instructionsOf(db: Database, roots: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const kept = keptIn(TEXTS, db, () => new Map<string, string>());
  const found = new Map(roots.flatMap((id) => (kept.has(id) ? [[id, kept.get(id) as string]] : [])));
  const missing = roots.filter((id) => !found.has(id));
  if (missing.length === 0) return found;
  const sql = `SELECT i.root_id, i.text FROM instructions i JOIN ${db.dialect.elements('$1')} e ON e.value = i.root_id`;
  for (const { root_id, text } of await db.read(sql, [JSON.stringify(missing)])) {
    found.set(root_id as string, text as string);
    kept.set(root_id as string, text as string);
  }
  for (const id of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(id);
  return found;
}
