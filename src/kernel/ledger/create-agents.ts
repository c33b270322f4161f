import { type AgentConfig, isQueuedRun, isScripted, type Tree } from '../../records/agent/agent.ts';
import { newBudget, optionalTreeSums, ownBudget } from '../../records/agent/budget.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { isWorking } from '../../records/agent/state.ts';
import { withStatedFacts } from '../../records/conversation/facts/old-facts.ts';
import type { Message } from '../../records/conversation/message.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import type { Refusal, Step } from '../step.ts';
import { exceededBudget, openBudget } from './budgets.ts';
import type { AgentFacts, TreeFacts } from './facts.ts';
import { addRun } from './run-history.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { enterUnled } from './unled.ts';

/** Appends messages after `base_seq`; returns the last seq. */
export function append(
  unit: UnitOfWork,
  agent_id: string,
  base_seq: number,
  messages: readonly Message[],
  at: number,
): number {
  let seq = base_seq;
  for (const message of messages) {
    seq += 1;
    const { kind, content } = withStatedFacts(message);
    const changed = changedFile(message);
    unit.rows.insert('messages', { agent_id, seq, kind, content: JSON.stringify(content), at, changed });
  }
  return seq;
}

/** Path of the file that a call changed, for the column by which changes are looked up; null if none. */
function changedFile(message: Message): string | null {
  const file = message.kind === 'result' ? message.content.file : undefined;
  return file?.before === undefined ? null : file.path;
}

/** Serializes a configuration for its row. The instructions are stored once per tree, whose agents all have the same ones or none. */
export function storedConfig(unit: UnitOfWork, root_id: string, config: AgentConfig): string {
  const { instructions: text } = config;
  if (text === undefined) return JSON.stringify(config);
  unit.rows.offer('instructions', { root_id, text });
  return JSON.stringify({ ...config, instructions: true });
}

/** `made_seq`: the newest message of its creator then. */
export function create(
  unit: UnitOfWork,
  { agent, messages, run }: NewAgent,
  made_seq: number | null = null,
): void {
  const { id, root_id, parent_id, name, session_key, origin, depth, worker, created_at, state } = agent;
  const from = agent.forked_from;
  const last_seq = append(unit, id, from?.seq ?? 0, messages, created_at);
  const own = ownBudget(id, agent.config);
  const budget = own === null ? null : newBudget(own, (agent.config.budgets ?? []).slice(1));
  if (budget !== null) openBudget(unit, root_id, budget);
  const facts: AgentFacts = {
    ...{ id, root_id, parent_id, name, session_key, origin, depth, last_seq, worker, status: state.type },
    ...{ mail_count: 0, noticed: 0, living_children: 0, epoch: 1, deaths: 0, calls: 0, last_write: null },
    ...{ input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
    budget: budget === null ? null : JSON.stringify(budget),
  };
  unit.addAgent(facts, {
    ...facts,
    ...{ config: storedConfig(unit, root_id, agent.config), state: JSON.stringify(state) },
    ...{ forked_from: from?.agent_id ?? null, forked_seq: from?.seq ?? null },
    ...{ doing: null, reply: null, sent_this_turn: false },
    ...{ created_at, updated_at: created_at, ended_at: null, reaped_at: null, made_seq, was: null },
  });
  if (worker === null && isWorking(state.type)) enterUnled(unit, [facts]);
  if (run !== undefined) addRun(unit, agent, run);
}

/** Creates a tree with its root agent. Idempotent: an existing one stays as it is. */
export function createRoot(
  unit: UnitOfWork,
  root: NewAgent,
  limits: Limits,
  { served = false, placement = [] }: { readonly served?: boolean; readonly placement?: readonly string[] },
): Tree {
  const root_id = root.agent.id;
  const there = unit.tree(root_id);
  if (there !== null) return treeRecord(unit, there);
  const tree: TreeFacts = {
    ...{ root_id, limits: JSON.stringify(limits), live: 1, total: 1, tokens: 0, cost_usd: 0 },
    ...{ cached_tokens: 0, reserved_tokens: 0, reserved_usd: 0, served, removal: null },
  };
  unit.addTree(tree, { ...tree, placement: JSON.stringify(placement), cut_of: null, cut: null });
  create(unit, root);
  return treeRecord(unit, tree);
}

export function treeRecord(unit: UnitOfWork, tree: TreeFacts): Tree {
  const { root_id, live, total, tokens, cost_usd } = tree;
  return { root_id, limits: unit.limits(tree), live, total, tokens, cost_usd, ...optionalTreeSums(tree) };
}

type LimitName = Extract<Refusal, { reason: 'limit' }>['limit'];

/** Returns the limit or budget that the step's new agents would exceed (law 7, docs/ledger.md); null if none. Every step that creates agents passes here. */
export function exceededLimit(unit: UnitOfWork, step: Step, agent: AgentFacts): Refusal | null {
  const created = step.create.length;
  if (created === 0) return null;
  const tree = unit.tree(agent.root_id) as TreeFacts;
  const { root_id, live, total } = tree;
  const limits = unit.limits(tree);
  // A workflow has its own limit of calls, which its script keeps.
  if (step.create.every(({ agent: { config } }) => isScripted(config)))
    return exceededBudget(unit, step, root_id);
  const check = (limit: LimitName, present: number, wanted = created): Refusal | null =>
    present + wanted > limits[limit] ? { reason: 'limit', limit, allowed: limits[limit], present } : null;
  // Agents at rest and those of workflows do not count (law 7); they are looked up only when the limit seems to be reached.
  const busy = step.create.filter(
    ({ agent: { origin, state } }) => !isQueuedRun({ origin, status: state.type }),
  );
  const checkBusy = (limit: 'children' | 'live', living: number, resting: () => number) =>
    check(limit, living, busy.length) && check(limit, living - resting(), busy.length);
  return (
    check('depth', agent.depth, 1) ??
    checkBusy('children', agent.living_children, () => unit.restingChildren(agent.id)) ??
    checkBusy('live', live, () => unit.restingInTree(root_id)) ??
    (check('total', total) && check('total', total - unit.scriptedInTree(root_id))) ??
    exceededBudget(unit, step, root_id)
  );
}
