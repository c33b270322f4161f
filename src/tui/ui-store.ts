import type { Agent } from '../core/agent.ts';
import type { Ask } from '../core/ask.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import { seeAgent, seeKilled, seeReaped, visit, withoutAgents } from './agent-changes.ts';
import { atSlot, neighbour } from './family.ts';
import { KeptMap } from './kept-map.ts';
import { seeDelta, seeHistory, seeMail, seeMessage, seeOutput } from './message-changes.ts';
import type { UiEvent } from './ui-event.ts';
import { type AgentPane, EMPTY_UI, paneOf, type UiState } from './ui-state.ts';

/** What the UI shows after an event. Pure: no clock, no I/O; no event costs more because more agents are idle. */
export function reduce(state: UiState, event: UiEvent): UiState {
  switch (event.type) {
    case 'runtime':
      return afterRuntime(state, event.event);
    case 'opened':
      return opened(state, event);
    case 'history':
      return seeHistory(state, event.agent_id, event.messages, event.mail);
    case 'asks':
      return withAsks(state, event.asks);
    case 'go':
      return goTo(state, neighbour(state, event.to));
    case 'visit':
      return goTo(state, event.agent_id);
    case 'slot':
      return goTo(state, atSlot(state, event.slot));
    case 'pin':
      return pinned(state, event.agent_id, event.slot);
    case 'draft':
      return withPane(state, event.agent_id, { draft: event.text });
    case 'capture-begun':
      return withPane(state, event.agent_id, { capture: paneOf(state, event.agent_id).capture ?? [] });
    case 'captured':
      return captured(state, event.agent_id, event.text);
    case 'capture-ended':
      return withPane(state, event.agent_id, { capture: null });
    case 'say':
      return said(state, event);
    case 'fold':
      return folded(state, event);
    case 'reaped':
      return seeReaped(state, event.ids);
    case 'overlay':
      return withOverlay(state, event.overlay);
    case 'leader':
      return { ...state, leader: event.on };
    case 'tick':
      return { ...state, now: event.now };
  }
}

/** The agent whose history the UI needs: it is in view and its scrollback is not whole. */
export function needsHistory(state: UiState): string | null {
  return state.view !== null && !paneOf(state, state.view).whole ? state.view : null;
}

function afterRuntime(state: UiState, event: RuntimeEvent): UiState {
  switch (event.type) {
    case 'agent':
      return seeAgent(state, event.agent, event.created);
    case 'message':
      return seeMessage(state, event.agent_id, event.message);
    case 'mail':
      return seeMail(state, event.mail);
    case 'killed':
      return seeKilled(state, event.ids, event.by);
    case 'removed':
      return withoutAgents(state, event.ids);
    case 'delta':
      return seeDelta(state, event.agent_id, event.delta);
    case 'output':
      return seeOutput(state, event.agent_id, event.call_id, event.text);
    case 'ledger':
      return { ...state, trouble: event.reachable ? null : event.text };
  }
}

function opened(state: UiState, event: Extract<UiEvent, { type: 'opened' }>): UiState {
  const births = [...event.agents].sort((a, b) => a.created_at - b.created_at || a.depth - b.depth);
  // Maps of their own: those of the empty state keep the places of what was heard of before it was opened.
  const maps = { agents: KeptMap.empty<Agent>(), panes: KeptMap.empty<AgentPane>() };
  const empty: UiState = { ...EMPTY_UI, ...maps, root_id: event.root_id, now: state.now };
  return births.reduce((sum, agent) => seeAgent(sum, agent, false), empty);
}

function goTo(state: UiState, agent_id: string | null): UiState {
  if (agent_id === null || !state.agents.has(agent_id)) return { ...state, leader: false };
  return { ...withOverlay(visit(state, agent_id), null), leader: false };
}

/** A person gives a slot away: whoever had it takes the other's. */
function pinned(state: UiState, agent_id: string, slot: number): UiState {
  if (agent_id === state.root_id || !state.agents.has(agent_id) || slot < 1 || slot > 9) return state;
  const slots = new Map(state.slots);
  const [holder, old] = [atSlot(state, slot), slots.get(agent_id)];
  if (holder !== null && holder !== agent_id) {
    if (old === undefined) slots.delete(holder);
    else slots.set(holder, old);
  }
  return { ...state, slots: slots.set(agent_id, slot) };
}

function withPane(state: UiState, agent_id: string, change: Partial<AgentPane>): UiState {
  if (!state.agents.has(agent_id)) return state;
  return { ...state, panes: state.panes.with(agent_id, { ...paneOf(state, agent_id), ...change }) };
}

function captured(state: UiState, agent_id: string, text: string): UiState {
  const { capture } = paneOf(state, agent_id);
  return capture === null ? state : withPane(state, agent_id, { capture: [...capture, ...text.split('\n')] });
}

function said(state: UiState, { agent_id, text, tone }: Extract<UiEvent, { type: 'say' }>): UiState {
  const pane = paneOf(state, agent_id);
  const entries = [...pane.entries, { type: 'say' as const, seq: pane.seq, text, tone }];
  return withPane(state, agent_id, { entries });
}

function folded(state: UiState, { agent_id, index, opened }: Extract<UiEvent, { type: 'fold' }>): UiState {
  const pane = paneOf(state, agent_id);
  const entry = pane.entries[index];
  if (entry === undefined || entry.type === 'say' || entry.opened === opened) return state;
  return withPane(state, agent_id, { entries: pane.entries.with(index, { ...entry, opened }) });
}

/** First in, first out; a question that comes never takes the place of the one in sight. */
function withAsks(state: UiState, asks: readonly Ask[]): UiState {
  const open = asks.filter((ask) => ask.verdict === null && ask.root_id === (state.root_id ?? ask.root_id));
  const place = new Map(state.asks.map((ask, index) => [ask.id, index]));
  const known = (ask: Ask): number => place.get(ask.id) ?? Number.MAX_SAFE_INTEGER;
  const queue = open.toSorted((a, b) => known(a) - known(b) || a.asked_at - b.asked_at);
  const ids = new Set(queue.map((ask) => ask.id));
  const put_off = new Set([...state.put_off].filter((id) => ids.has(id)));
  const next: UiState = { ...state, asks: queue, put_off };
  if (next.overlay?.type !== 'approvals') return withQuestion(next);
  if (queue.length === 0) return { ...next, overlay: null };
  // Another question is in sight now: a key that was meant for the one before must not answer it.
  const same = queue[0]?.id === state.asks[0]?.id;
  return same ? next : { ...next, overlay: { type: 'approvals', since: state.now, saying: null } };
}

/** The queue comes up by itself when something was asked that nobody has put off, and nothing else is open. */
function withQuestion(state: UiState): UiState {
  if (state.overlay !== null || state.asks.every((ask) => state.put_off.has(ask.id))) return state;
  return { ...state, overlay: { type: 'approvals', since: state.now, saying: null } };
}

function withOverlay(state: UiState, overlay: UiState['overlay']): UiState {
  const left = state.overlay?.type === 'approvals' && overlay?.type !== 'approvals';
  const put_off = left ? new Set(state.asks.map((ask) => ask.id)) : state.put_off;
  const next: UiState = { ...state, overlay, put_off, leader: false };
  return overlay === null ? withQuestion(next) : next;
}
