import { type Agent, pathUp } from '../../../records/agent/agent.ts';
import { isTerminal, isWorking } from '../../../records/agent/state.ts';
import type { Ask } from '../../../records/conversation/ask.ts';
import { keptIn } from '../../../records/kept-in.ts';
import { statusWord } from '../../../render/agent-status.ts';
import type { Direction } from '../ui-event.ts';
import { paneOf, type UiState } from '../ui-state.ts';

/** The neighbours of an agent; dead ones count until they are reaped. */
export interface Family {
  readonly parent: Agent | null;
  readonly child: Agent | null;
  /** Siblings in cyclic order; null for an only child. */
  readonly previous: Agent | null;
  readonly next: Agent | null;
}

export function family(state: UiState, agent_id: string): Family {
  const self = state.agents.get(agent_id);
  if (self === undefined) return { parent: null, child: null, previous: null, next: null };
  let child: Agent | null = null;
  const siblings: Agent[] = [];
  for (const agent of state.agents.values()) {
    if (agent.parent_id === agent_id) child ??= agent;
    if (agent.parent_id !== null && agent.parent_id === self.parent_id) siblings.push(agent);
  }
  const parent = self.parent_id === null ? null : (state.agents.get(self.parent_id) ?? null);
  const place = siblings.findIndex((one) => one.id === agent_id);
  const around = (step: number): Agent | null =>
    siblings.length < 2 ? null : (siblings[(place + step + siblings.length) % siblings.length] as Agent);
  return { parent, child, previous: around(-1), next: around(1) };
}

export function neighbour(state: UiState, to: Direction): string | null {
  return state.view === null ? null : (family(state, state.view)[to]?.id ?? null);
}

/** The nearest ancestor that is not among `gone`; null when there is none. */
export function survivingAncestor(
  state: UiState,
  agent_id: string,
  gone: ReadonlySet<string>,
): string | null {
  const [, ...above] = pathUp(agent_id, (id) => state.agents.get(id));
  return above.find((id) => !gone.has(id) && state.agents.has(id)) ?? null;
}

/** Idle agents that may be killed together: no descendant is at work. Excludes the root, and agents with an open capture in their branch. */
export function idleAgents(state: UiState): readonly Agent[] {
  const busy = new Set<string>();
  const all = [...state.agents.values()];
  // A child is always younger than its parent.
  for (const agent of all.toReversed()) {
    const rests = isTerminal(agent.state.type) || statusWord(agent) === 'idle';
    if (!rests || paneOf(state, agent.id).capture !== null) busy.add(agent.id);
    if (busy.has(agent.id) && agent.parent_id !== null) busy.add(agent.parent_id);
  }
  return all.filter(
    (agent) => agent.parent_id !== null && !busy.has(agent.id) && statusWord(agent) === 'idle',
  );
}

/** An agent with all below it. */
export interface Branch {
  readonly agent: Agent;
  /** Number of its living descendants. */
  readonly below: number;
  /** The oldest question of its branch. */
  readonly ask: Ask | null;
  /** Whether an agent of it works or is queued. */
  readonly busy: boolean;
}

/** The branches that begin at these agents, oldest first. Takes one pass over the agents, since a child is always younger than its parent. */
export function branches(
  { agents, asks }: UiState,
  begins: (agent: Agent) => boolean,
): ReadonlyMap<string, Branch> {
  const found = new Map<string, { agent: Agent; below: number; ask: Ask | null; busy: boolean }>();
  const branch_of = new Map<string, string>();
  for (const agent of agents.values()) {
    const { id, parent_id } = agent;
    const top = begins(agent) ? id : branch_of.get(parent_id ?? '');
    if (top === undefined) continue;
    branch_of.set(id, top);
    const branch = keptIn(found, top, () => ({ agent, below: 0, ask: null, busy: false }));
    if (isTerminal(agent.state.type)) continue;
    if (top !== id) branch.below += 1;
    branch.busy ||= isWorking(agent.state.type) || statusWord(agent) === 'queued';
  }
  for (const ask of asks) {
    const branch = found.get(branch_of.get(ask.agent_id) ?? '');
    if (branch !== undefined) branch.ask ??= ask;
  }
  return found;
}
