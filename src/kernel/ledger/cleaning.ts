import type { TreeFacts } from './facts.ts';
import { cleanRun } from './runs.ts';
import type { Unit } from './unit.ts';

/** How many rows. */
export interface TreeRows {
  readonly agents: number;
  readonly messages: number;
  readonly mail: number;
  readonly requests: number;
  readonly asks: number;
  readonly runs: number;
}

/**
 * Rows of a tree that can go, by their `part`: `message` (of the agent `id`, `n` is its seq), `mail`, `agent` (`n` requests were made for it), `ask`, and of
 * the run history, by the id of the agent, `kept` (its conversation goes, which nothing says yet) and `run`. Of each the oldest agents' and as many as may go
 * at once, so that where there are fewer these are all.
 */
export interface PieceRow {
  readonly part: 'message' | 'mail' | 'agent' | 'ask' | 'kept' | 'run';
  readonly id: string;
  readonly n: number;
}

export interface Piece {
  /** So many rows at most; the requests of one agent go at once. */
  readonly most: number;
  /** Rows of the run history go too. */
  readonly runs: boolean;
  /** Also when nobody closed the tree. */
  readonly open: boolean;
}

/** Removes some of a tree, its agents when nothing is left of what they had, and the tree itself last (`done`). */
export function removePiece(
  unit: Unit,
  root_id: string,
  found: readonly PieceRow[],
  { most, runs, open }: Piece,
): { readonly removed: TreeRows; readonly done: boolean } {
  const removed = { agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 };
  const tree = unit.tree(root_id);
  if (tree === null || (tree.removal === null && !open)) return { removed, done: true };
  let room = most;
  const take = (part: PieceRow['part'], remove: (id: string, n: number) => void): number => {
    const taken = found.filter((row) => row.part === part).slice(0, room);
    for (const { id, n } of taken) remove(id, n);
    room -= taken.length;
    return taken.length;
  };
  removed.messages = take('message', (id, n) => unit.rows.delete('messages', { agent_id: id, seq: n }));
  removed.mail = take('mail', (id) => unit.rows.delete('mail', { id }));
  for (const { id, n } of found.filter(({ part }) => part === 'agent')) {
    if (room < most && room < n + 1) room = 0;
    if (room <= 0) break;
    unit.removeAgent({ id, root_id });
    unit.rows.wipe('wait_edges', 'waiter', id);
    unit.rows.wipe('wait_edges', 'target', id);
    unit.rows.wipe('signals', 'agent_id', id);
    removed.agents += 1;
    removed.requests += n;
    room -= n + 1;
  }
  room = Math.max(0, room);
  removed.asks = take('ask', (id) => unit.rows.delete('asks', { id }));
  const cleaned_at = unit.facts.now;
  take('kept', (id) => unit.rows.update('subagent_runs', { agent_id: id, cleaned_at }));
  if (runs) removed.runs = take('run', (id) => unit.rows.delete('subagent_runs', { agent_id: id }));
  if (room > 0) unit.rows.delete('trees', { root_id });
  else if (tree.removal !== 'begun') unit.setTree(tree, { removal: 'begun' });
  return { removed, done: room > 0 };
}

/** Of a run that was told of everywhere the conversation goes, if nothing builds on it; its row in the history stays. */
export function cleanUp(unit: Unit, agent_id: string, at: number): void {
  const agent = unit.agent(agent_id);
  if (agent !== null && !unit.hasChildren(agent_id)) unit.removeAgent(agent);
  cleanRun(unit, agent_id, at);
}

/** From now on nobody leads these trees, writes to them or changes them; nothing of them is gone yet. */
export function closeTrees(unit: Unit, root_ids: readonly string[]): void {
  for (const root_id of root_ids) unit.setTree(unit.tree(root_id) as TreeFacts, { removal: 'closed' });
}
