import type { Agent } from '../../records/agent/agent.ts';
import { addUsage, NO_USAGE } from '../../records/agent/usage.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { seeAgent, seeKilled, seeReaped, visit, withoutAgents } from './agents/agent-changes.ts';
import { neighbour } from './agents/family.ts';
import { agentAtSlot, pinned } from './agents/slots.ts';
import { withCapture, withoutCapture } from './capture.ts';
import { afterChoiceKey } from './confirmation.ts';
import { granting } from './grant-draft.ts';
import {
  seeDelta,
  seeHistory,
  seeMail,
  seeMessage,
  seeOutput,
  seeTakenBack,
  withPane,
} from './message-changes.ts';
import { PersistentMap } from './persistent-map.ts';
import {
  answered,
  asked,
  putOff,
  saying,
  turned,
  withAsks,
  withKey,
  withSelectedAsk,
} from './question-in-view.ts';
import type { UiEvent } from './ui-event.ts';
import { type AgentPane, EMPTY_UI, paneOf, type UiState } from './ui-state.ts';

/** Time within which a second Ctrl-C leaves. */
const TWICE_MS = 1_000;
/** The same for a second Esc, which ends nothing. */
const ESCAPES_MS = 2_000;

/** The state after an event. Pure: no clock, no I/O; the cost of an event does not grow with the number of idle agents. */
export function reduce(state: UiState, event: UiEvent): UiState {
  switch (event.type) {
    case 'runtime':
      return afterRuntime(state, event.event);
    case 'opened':
      return opened(state, event);
    case 'history':
      return seeHistory(state, event.agent_id, event.messages, event.mail, event.used);
    case 'taken_back':
      return seeTakenBack(state, event.agent_id, event.mail_id);
    case 'own_command':
      return withOwnCommand(state, event);
    case 'asks':
      return withSelectedAsk(withAsks(state, event.asks));
    case 'tasks':
      return { ...state, tasks: event.tasks };
    case 'budgets':
      return { ...state, budgets: event.budgets };
    case 'go':
      return goTo(state, neighbour(state, event.to));
    case 'visit':
      return goTo(state, event.agent_id);
    case 'slot':
      return goTo(state, agentAtSlot(state, event.slot));
    case 'pin':
      return pinned(state, event.agent_id, event.slot);
    case 'captured':
      return captured(state, event);
    case 'say':
      return withLocalMessage(state, event);
    case 'fold':
      return folded(state, event);
    case 'reaped':
      return seeReaped(state, event.ids);
    case 'decide':
      return afterChoiceKey(state, event.letter);
    case 'overlay':
      return withSelectedAsk(withOverlay(state, event.overlay));
    case 'question':
      return event.shown ? { ...asked(state), armed: true } : putOff(state);
    case 'answered':
      return event.failed
        ? { ...state, answered: state.answered.difference(new Set(event.ids)) }
        : withSelectedAsk(answered(state, event.ids));
    case 'turned':
      return turned(state, event.by);
    case 'grant':
      return granting(state, event.change, event.typed ?? null);
    case 'saying':
      return saying(state, event.text);
    case 'typed':
      return withKey(
        event.drafting === true ? state : { ...state, draft_at: state.now },
        event.alone,
        event.again,
      );
    case 'leaving':
      return { ...state, leaving: state.now };
    case 'escaped':
      return { ...state, escaped: event.on ? state.now : null };
    case 'mode':
      return { ...state, next_mode: event.mode };
    case 'leader':
      return { ...state, leader: event.on };
    case 'tick':
      return {
        ...state,
        now: event.now,
        leaving: within(state.leaving, event.now, TWICE_MS),
        escaped: within(state.escaped, event.now, ESCAPES_MS),
      };
  }
}

/** Maximum characters kept of a command's output. */
const WRITTEN_MAX = 4_000;

function withOwnCommand(state: UiState, event: Extract<UiEvent, { type: 'own_command' }>): UiState {
  if ('began' in event) {
    const { began: command } = event;
    return { ...state, shell_command: command === null ? null : { command, output: '', since: state.now } };
  }
  const { shell_command } = state;
  if (shell_command === null) return state;
  const output = endOfText(`${shell_command.output}${event.output}`, WRITTEN_MAX);
  return { ...state, shell_command: { ...shell_command, output } };
}

function within(since: number | null, now: number, most_ms: number): number | null {
  return since === null || now - since >= most_ms ? null : since;
}

/** The agent whose history has to be loaded: the one in view or selected in the list, if its scrollback is incomplete. */
export function needsHistory(state: UiState): string | null {
  const { view, overlay } = state;
  const shown = [view, overlay?.type === 'agents' ? overlay.selected : null];
  return shown.find((id) => id !== null && state.agents.has(id) && !paneOf(state, id).whole) ?? null;
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
    case 'notice':
      return withLocalMessage(state, {
        type: 'say',
        agent_id: event.agent_id,
        text: event.text,
        tone: 'bad',
      });
    case 'ledger':
      return { ...state, trouble: event.reachable ? null : event.text };
  }
}

function opened(state: UiState, event: Extract<UiEvent, { type: 'opened' }>): UiState {
  const births = [...event.agents].sort((a, b) => a.created_at - b.created_at || a.depth - b.depth);
  // New maps: those of the empty state remember the order of agents seen before.
  const maps = { agents: PersistentMap.empty<Agent>(), panes: PersistentMap.empty<AgentPane>() };
  // Input in progress survives: a first Ctrl-C, whose second leaves, and the leader key, which waits for another key.
  const { now, typed_at, draft_at, shell_command, leaving, leader } = state;
  const kept = { now, typed_at, draft_at, shell_command, leaving, leader };
  const reaped = births.filter(({ reaped_at }) => reaped_at !== null);
  const past_usage = reaped.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const empty: UiState = { ...EMPTY_UI, ...maps, ...kept, past_usage, root_id: event.root_id };
  return births.reduce((sum, agent) => seeAgent(sum, agent, false), empty);
}

function goTo(state: UiState, agent_id: string | null): UiState {
  if (agent_id === null || !state.agents.has(agent_id)) return { ...state, leader: false };
  return { ...withOverlay(visit(state, agent_id), null), leader: false };
}

function captured(
  state: UiState,
  { agent_id, content, lost = false }: Extract<UiEvent, { type: 'captured' }>,
): UiState {
  return withPane(state, agent_id, (pane) => (lost ? withoutCapture : withCapture)(pane, content));
}

function withLocalMessage(
  state: UiState,
  { agent_id, text, tone }: Extract<UiEvent, { type: 'say' }>,
): UiState {
  const pane = paneOf(state, agent_id);
  const last = pane.entries.at(-1);
  // A notice that stands there already says the same.
  if (last?.type === 'say' && last.text === text && last.tone === tone) return state;
  const entries = [...pane.entries, { type: 'say' as const, seq: pane.seq, text, tone }];
  return withPane(state, agent_id, () => ({ ...pane, entries }));
}

function folded(state: UiState, { agent_id, index, opened }: Extract<UiEvent, { type: 'fold' }>): UiState {
  const pane = paneOf(state, agent_id);
  const entry = pane.entries[index];
  if (entry === undefined || entry.type === 'say' || entry.opened === opened) return state;
  const entries = pane.entries.with(index, { ...entry, opened });
  return withPane(state, agent_id, () => ({ ...pane, entries }));
}

function withOverlay(state: UiState, overlay: UiState['overlay']): UiState {
  const next: UiState = { ...state, overlay, deciding: null, leader: false };
  // The overlay hid the question: the time to read it starts now.
  if (overlay !== null || state.overlay === null || state.question === null) return next;
  const all_put_off = state.asks.every(({ id }) => state.put_off.has(id));
  return all_put_off ? { ...next, question: null } : asked(next);
}
