import type { ModelDelta } from '../../models/model.ts';
import { typedText } from '../../records/conversation/facts/message-facts.ts';
import { PERSON } from '../../records/conversation/facts/wait-row.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { countIn } from '../../records/kept-in.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import { withPulse } from './agents/pulse.ts';
import { captureIn, seeCapture, withCaptureSent } from './capture.ts';
import type { Entry } from './entry.ts';
import { transcript, withMessage } from './transcript.ts';
import { type AgentPane, paneOf, type QueuedText, type UiState } from './ui-state.ts';

/** What a message or some output counts for, in characters of streamed text. */
const STEP = 40;
/** Maximum characters kept of the output of a running call. */
const OUTPUT_MAX = 4_000;

/** The state after a change of an agent's pane; the same state for an agent that is not known, and if nothing changes. */
export function withPane(state: UiState, agent_id: string, change: (pane: AgentPane) => AgentPane): UiState {
  if (!state.agents.has(agent_id)) return state;
  const before = paneOf(state, agent_id);
  const pane = change(before);
  return pane === before ? state : { ...state, panes: state.panes.with(agent_id, pane) };
}

export function seeMessage(state: UiState, agent_id: string, message: PlacedMessage): UiState {
  return withPane(state, agent_id, (before) => {
    let pane = place(before, message, agent_id, state.view === agent_id);
    if (pane === before) return before;
    if (message.kind === 'assistant') pane = { ...pane, streaming: '', reasoning: '', delay: null };
    if (message.kind === 'result' && pane.output.has(message.content.call_id)) {
      const output = new Map(pane.output);
      output.delete(message.content.call_id);
      pane = { ...pane, output };
    }
    pane = { ...withoutReadMail(pane, message), pulse: withPulse(pane.pulse, state.now, STEP) };
    return state.view !== agent_id && countsAsUnseen(message) ? { ...pane, unseen: pane.unseen + 1 } : pane;
  });
}

function place(pane: AgentPane, message: PlacedMessage, agent_id: string, in_view: boolean): AgentPane {
  if (message.seq <= pane.seq) return pane;
  if (pane.whole && message.seq === pane.seq + 1)
    return {
      ...seeCapture(pane, message, agent_id),
      entries: withMessage(pane.entries, message, agent_id),
      seq: message.seq,
    };
  // The scrollback is incomplete: the message is kept until it is loaded, for the agent in view only.
  return { ...pane, whole: false, early: in_view ? [...pane.early, message] : [] };
}

/** Whether a message counts as unseen: text and events do, results do not. */
function countsAsUnseen(message: PlacedMessage): boolean {
  if (message.kind === 'assistant')
    return message.content.parts.some((part) => part.type === 'text' && part.text.trim() !== '');
  return message.kind === 'event';
}

/** Letters leave the mailbox, and the queue of the person, with the message that takes them (law 6). */
function withoutReadMail(pane: AgentPane, { kind, content }: PlacedMessage): AgentPane {
  const letters = kind === 'user' || kind === 'result' ? content.facts?.letters : undefined;
  if (letters === undefined) return pane;
  const unread = new Map(pane.unread);
  for (const { from_id } of letters) countIn(unread, from_id ?? PERSON, -1);
  const queued = pane.queued.filter(({ id }) => !letters.some((letter) => letter.id === id));
  return { ...pane, unread, queued };
}

function queuedText({ id, body, attached }: Mail): QueuedText {
  return { id, text: typedText(body, attached), attached: attached?.labels.length ?? 0 };
}

export function seeMail(before: UiState, mail: Mail): UiState {
  if (mail.kind !== 'letter') return before;
  const state = withPane(before, mail.from_id ?? '', (pane) => ({ ...pane, sent: mail.body }));
  return withPane(state, mail.to_id, (pane) => {
    const unread = new Map(pane.unread);
    countIn(unread, mail.from_id ?? PERSON, 1);
    const known = mail.from_id !== null || pane.queued.some(({ id }) => id === mail.id);
    const queued = known ? pane.queued : [...pane.queued, queuedText(mail)];
    return { ...pane, unread, queued };
  });
}

export function seeTakenBack(state: UiState, agent_id: string, mail_id: string): UiState {
  const pane = paneOf(state, agent_id);
  const queued = pane.queued.filter(({ id }) => id !== mail_id);
  if (queued.length === pane.queued.length) return state;
  const unread = new Map(pane.unread);
  countIn(unread, PERSON, -1);
  return { ...state, panes: state.panes.with(agent_id, { ...pane, queued, unread }) };
}

export function seeDelta(state: UiState, agent_id: string, delta: ModelDelta): UiState {
  return withPane(state, agent_id, (before) => {
    const pane = afterDelta(before, delta, state.now);
    const amount = delta.type === 'text' || delta.type === 'reasoning' ? delta.text.length : 0;
    return amount === 0 ? pane : { ...pane, pulse: withPulse(pane.pulse, state.now, amount) };
  });
}

function afterDelta(pane: AgentPane, delta: ModelDelta, now: number): AgentPane {
  switch (delta.type) {
    case 'text':
      return { ...pane, streaming: pane.streaming + delta.text, delay: null };
    case 'reasoning':
      return { ...pane, reasoning: pane.reasoning + delta.text, delay: null };
    case 'waiting':
      return { ...pane, delay: { reason: delta.reason, until: delta.delay_ms && now + delta.delay_ms } };
    case 'restart':
      return { ...pane, streaming: '', reasoning: '' };
    case 'call':
    case 'sent':
      return pane.delay === null ? pane : { ...pane, delay: null };
  }
}

export function seeOutput(state: UiState, agent_id: string, call_id: string, text: string): UiState {
  return withPane(state, agent_id, (pane) => {
    const newest = endOfText((pane.output.get(call_id) ?? '') + text, OUTPUT_MAX);
    const pulse = withPulse(pane.pulse, state.now, STEP);
    return { ...pane, output: new Map(pane.output).set(call_id, newest), pulse };
  });
}

/** The scrollback as read from the ledger, then messages that arrived since; notices of the program stay in place. */
export function seeHistory(
  state: UiState,
  agent_id: string,
  messages: readonly PlacedMessage[],
  mail: readonly Mail[],
  used: number | null = null,
): UiState {
  if (!state.agents.has(agent_id)) return state;
  const pane = paneOf(state, agent_id);
  const last = messages.at(-1)?.seq ?? 0;
  const all = [...messages, ...pane.early.filter((message) => message.seq > last)];
  const unread = new Map<string, number>();
  for (const { kind, from_id } of mail) if (kind === 'letter') countIn(unread, from_id ?? PERSON, 1);
  const told = all.filter((message) => message.seq > pane.seq);
  const read = told.reduce((sum, message) => seeCapture(sum, message, agent_id), pane);
  const next: AgentPane = {
    ...withCaptureSent({ ...read, captured: captureIn(all, agent_id) }),
    entries: withNotices(transcript(all, agent_id), pane.entries),
    whole: true,
    early: [],
    request_tokens: pane.request_tokens ?? used,
    seq: all.at(-1)?.seq ?? 0,
    unread,
    queued: mail.filter(({ kind, from_id }) => kind === 'letter' && from_id === null).map(queuedText),
  };
  return { ...state, panes: state.panes.with(agent_id, next) };
}

function withNotices(built: readonly Entry[], before: readonly Entry[]): readonly Entry[] {
  const notices = before.filter((entry) => entry.type === 'say');
  if (notices.length === 0) return built;
  // The sort is stable: a notice stays after the message that it followed.
  return [...built, ...notices].sort((a, b) => a.seq - b.seq);
}
