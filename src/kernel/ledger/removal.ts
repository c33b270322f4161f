import type { TreeFacts } from './facts.ts';
import { markRunCleaned } from './run-history.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface TreeRowCounts {
  readonly agents: number;
  readonly messages: number;
  readonly mail: number;
  readonly requests: number;
  readonly asks: number;
  readonly runs: number;
}

/**
 * A row of a tree that can be removed. `message`: `id` is the agent's, `n` the seq. `agent`: `n` is the number of its requests. `run`: a row of the run
 * history, by the agent's id; `kept`: one that is not yet marked as having lost its conversation. A part with fewer rows than the batch allows has no more.
 */
export interface RemovableRow {
  readonly part: 'message' | 'mail' | 'agent' | 'ask' | 'kept' | 'run';
  readonly id: string;
  readonly n: number;
}

export interface RemovalBatch {
  /** Maximum rows; exceeded only by an agent with more requests, all of which are removed at once. */
  readonly most: number;
  /** Whether rows of the run history are removed too. */
  readonly runs: boolean;
  /** Whether a tree that was not closed is removed too. */
  readonly open: boolean;
}

/** Removes a batch of a tree's rows: an agent after everything that belongs to it, and the tree itself last (`done`). */
export function removeTreeRows(
  unit: UnitOfWork,
  root_id: string,
  found: readonly RemovableRow[],
  { most, runs, open }: RemovalBatch,
): { readonly removed: TreeRowCounts; readonly done: boolean } {
  const removed = { agents: 0, messages: 0, mail: 0, requests: 0, asks: 0, runs: 0 };
  const tree = unit.tree(root_id);
  if (tree === null || (tree.removal === null && !open)) return { removed, done: true };
  let room = most;
  const take = (part: RemovableRow['part'], remove: (id: string, n: number) => void): number => {
    const taken = found.filter((row) => row.part === part).slice(0, room);
    for (const { id, n } of taken) remove(id, n);
    room -= taken.length;
    return taken.length;
  };
  removed.messages = take('message', (id, n) => unit.rows.delete('messages', { agent_id: id, seq: n }));
  removed.mail = take('mail', (id) => unit.rows.delete('mail', { id }));
  for (const { id, n } of found.filter(({ part }) => part === 'agent')) {
    if (room < most && room < n + 1) room = 0;
    if (room === 0) break;
    unit.removeAgent({ id, root_id });
    unit.rows.wipe('wait_edges', 'waiter', id);
    unit.rows.wipe('wait_edges', 'target', id);
    unit.rows.wipe('signals', 'agent_id', id);
    removed.agents += 1;
    removed.requests += n;
    room = Math.max(0, room - n - 1);
  }
  removed.asks = take('ask', (id) => unit.rows.delete('asks', { id }));
  const cleaned_at = unit.facts.now;
  take('kept', (id) => unit.rows.update('subagent_runs', { agent_id: id, cleaned_at }));
  if (runs) removed.runs = take('run', (id) => unit.rows.delete('subagent_runs', { agent_id: id }));
  if (room > 0) {
    unit.rows.wipe('tasks', 'root_id', root_id);
    unit.rows.delete('instructions', { root_id });
    unit.rows.delete('trees', { root_id });
  } else if (tree.removal !== 'begun') unit.setTree(tree, { removal: 'begun' });
  return { removed, done: room > 0 };
}

/** Removes the conversation of a run whose end was delivered to all targets, unless its agent has children; its row in the run history stays. */
export function removeConversation(unit: UnitOfWork, agent_id: string, at: number): void {
  const agent = unit.agent(agent_id);
  if (agent !== null && !unit.hasChildren(agent_id)) unit.removeAgent(agent);
  markRunCleaned(unit, agent_id, at);
}

/** Closes trees: nobody leads them, writes to them or changes them any more. Removes nothing yet. */
export function closeTrees(unit: UnitOfWork, root_ids: readonly string[]): void {
  for (const root_id of root_ids) unit.setTree(unit.tree(root_id) as TreeFacts, { removal: 'closed' });
}
