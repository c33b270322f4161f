import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { agentAtSlot, numberedAgents } from '../state/agents/slots.ts';
import type { UiState } from '../state/ui-state.ts';

const PREFIX_MIN = 4;

export type Found =
  | { readonly type: 'agent'; readonly agent: Agent }
  | { readonly type: 'ambiguous'; readonly candidates: readonly Agent[] }
  | { readonly type: 'none' };

/** Finds an agent by slot, name, the first four or more characters of its id, or number. Living agents take precedence over dead ones of the same name. */
export function findAgent(state: UiState, reference: string): Found {
  const wanted = reference.trim();
  if (/^\d$/.test(wanted)) {
    const id = agentAtSlot(state, Number(wanted));
    const agent = id === null ? undefined : state.agents.get(id);
    if (agent !== undefined) return { type: 'agent', agent };
  }
  const all = [...state.agents.values()];
  const named = all.filter((agent) => agent.name === wanted);
  const living = named.filter((agent) => !isTerminal(agent.state.type));
  const short = wanted.length < PREFIX_MIN;
  const by_id = short ? [] : all.filter((agent) => agent.id.startsWith(wanted.toLowerCase()));
  const candidates = living.length > 0 ? living : named.length > 0 ? named : by_id;
  const numbered = /^\d+$/.test(wanted) ? numberedAgents(state).get(Number(wanted)) : undefined;
  if (candidates.length === 0 && numbered !== undefined) return { type: 'agent', agent: numbered };
  if (candidates.length > 1) return { type: 'ambiguous', candidates };
  const [agent] = candidates;
  return agent === undefined ? { type: 'none' } : { type: 'agent', agent };
}
