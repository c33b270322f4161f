import type { Agent } from '../../../records/agent/agent.ts';
import { isTerminal, isWorking } from '../../../records/agent/state.ts';
import { addUsage, NO_USAGE } from '../../../records/agent/usage.ts';
import { type AgentPane, paneOf, type Turn, totalUsage, type UiState } from '../ui-state.ts';
import { survivingAncestor } from './family.ts';
import { withSlot } from './slots.ts';

export function seeAgent(state: UiState, agent: Agent, created: boolean): UiState {
  if (state.root_id !== null && agent.root_id !== state.root_id) return state;
  if (agent.reaped_at !== null) return state.agents.has(agent.id) ? withoutAgents(state, [agent.id]) : state;
  let next = { ...state, agents: state.agents.with(agent.id, agent) };
  if (next.root_id === null && agent.parent_id === null) next = { ...next, root_id: agent.id };
  if (next.view === null && agent.id === next.root_id) next = { ...next, view: agent.id };
  if (!state.agents.has(agent.id)) next = withSlot(next, agent.id);
  if (agent.id === next.root_id) next = { ...next, turn: turnAfter(state, agent) };
  const before = withRequest(paneOf(next, agent.id), state.agents.get(agent.id), agent);
  const begins = !isWorking(state.agents.get(agent.id)?.state.type ?? 'idle') && isWorking(agent.state.type);
  const now = begins ? { ...before, sent: null } : before;
  const pane = created ? { ...now, whole: agent.forked_from === null } : paneAfter(now, agent);
  return pane === paneOf(next, agent.id) ? next : { ...next, panes: next.panes.with(agent.id, pane) };
}

/** Usage grows once per request: the growth is the size of the newest one. */
function withRequest(pane: AgentPane, was: Agent | undefined, { usage }: Agent): AgentPane {
  if (was === undefined) return pane;
  const tokens = usage.input + usage.output - was.usage.input - was.usage.output;
  return tokens > 0 ? { ...pane, request_tokens: tokens } : pane;
}

/** The turn after a change of the root: one begins when the root starts to work after having been at rest. */
function turnAfter(state: UiState, root: Agent): Turn | null {
  const was = state.agents.get(root.id);
  const worked = was !== undefined && isWorking(was.state.type);
  if (!isWorking(root.state.type))
    return state.turn === null || !worked ? state.turn : { ...state.turn, seen_at: state.now };
  if (worked) return state.turn;
  // The start of a turn that was already under way when its tree was opened is unknown.
  const is_new = was !== undefined || root.last_seq <= 1;
  return is_new ? { began_at: state.now, seen_at: state.now, before: totalUsage(state) } : null;
}

function paneAfter(before: AgentPane, agent: Agent): AgentPane {
  const { state } = agent;
  let pane = before;
  const said = pane.streaming !== '' || pane.reasoning !== '' || pane.delay !== null;
  if (said && state.type !== 'requesting') pane = { ...pane, streaming: '', reasoning: '', delay: null };
  if (pane.output.size > 0 && state.type !== 'executing') pane = { ...pane, output: new Map() };
  // Messages were appended without an event here (a kill, a step of another process): the history must be read again.
  if (pane.whole && agent.last_seq > pane.seq) pane = { ...pane, whole: false, early: [] };
  return withDelegates(pane, agent);
}

function withDelegates(pane: AgentPane, { state }: Agent): AgentPane {
  if (state.type !== 'executing') return pane.delegates.length === 0 ? pane : { ...pane, delegates: [] };
  const { running, results, queued } = state;
  const calls = new Set([...running.map((one) => one.call.id), ...results, ...queued.map((call) => call.id)]);
  const kept = pane.delegates.filter((one) => calls.has(one.call_id));
  const known = new Set(kept.map((one) => one.agent_id));
  const added = running.flatMap(({ call, child }) =>
    child === undefined || known.has(child) ? [] : [{ call_id: call.id, agent_id: child }],
  );
  if (added.length === 0 && kept.length === pane.delegates.length) return pane;
  return { ...pane, delegates: [...kept, ...added] };
}

/**
 * The state after agents were killed; they keep their places. If the person killed the one in view, its nearest surviving ancestor comes into view;
 * a kill by an agent does not change the view.
 */
export function seeKilled(state: UiState, ids: readonly string[], by: string): UiState {
  const gone = new Set(ids);
  const { overlay, view } = state;
  const is_moot = overlay?.type === 'kill' && overlay.agent_ids.every((id) => gone.has(id));
  const asked = is_moot ? { ...state, overlay: overlay.list ?? null, deciding: null } : state;
  if (by !== 'you' || view === null || !gone.has(view)) return asked;
  const up = survivingAncestor(state, view, gone);
  return up === null ? asked : visit(asked, up);
}

/** The state after dead agents were reaped: the first living agent, if any, comes into view. */
export function seeReaped(state: UiState, ids: readonly string[]): UiState {
  const known = ids.filter((id) => state.agents.has(id) && id !== state.root_id);
  if (known.length === 0) return state;
  const next = withoutAgents(state, known);
  for (const agent of next.agents.values()) if (!isTerminal(agent.state.type)) return visit(next, agent.id);
  return next;
}

/** Removes agents and their slots, but keeps their usage; the view never stays on one of them. */
export function withoutAgents(state: UiState, ids: readonly string[]): UiState {
  const gone = new Set(ids);
  let { agents, panes, past_usage } = state;
  for (const id of ids) {
    past_usage = addUsage(past_usage, agents.get(id)?.usage ?? NO_USAGE);
    [agents, panes] = [agents.without(id), panes.without(id)];
  }
  const slots = new Map([...state.slots].filter(([id]) => !gone.has(id)));
  const next: UiState = { ...state, agents, past_usage, panes, slots };
  if (state.view === null || !gone.has(state.view)) return next;
  const to =
    survivingAncestor(state, state.view, gone) ?? (gone.has(state.root_id ?? '') ? null : state.root_id);
  return to === null ? { ...next, view: null } : visit(next, to);
}

/** Brings an agent into view; its entries count as seen. */
export function visit(state: UiState, agent_id: string): UiState {
  if (!state.agents.has(agent_id)) return state;
  const pane = paneOf(state, agent_id);
  const panes = pane.unseen === 0 ? state.panes : state.panes.with(agent_id, { ...pane, unseen: 0 });
  return { ...state, view: agent_id, panes };
}
