import type { Ask } from '../../records/conversation/ask.ts';
import { type Answer, answerOf } from './answer.ts';
import type { UiState } from './ui-state.ts';

/**
 * The visible question of an agent: a banner above the input that does not block it. What the person types always goes into the draft
 * and cannot answer by accident:
 *  Q1. A letter answers only if it stands alone: the draft was empty, and no other key came within `ALONE_MS` before and after it.
 *  Q2. Nothing answers a question that cannot have been read: it must have been visible for `ALONE_MS` before a letter, for `SEEN_MS` before a chord.
 *  Q3. Pasted text never answers.
 */
export const ALONE_MS = 700;
export const SEEN_MS = 400;

/** The state after a key or a paste. `alone`: the character that it wrote into an empty draft; null for everything else. */
export function withKey(state: UiState, alone: string | null): UiState {
  const { question, now } = state;
  const next = { ...state, typed_at: now };
  if (question === null) return next;
  const quiet = now - state.typed_at >= ALONE_MS && now - question.since >= ALONE_MS;
  const { saying, grant } = question;
  const answer = alone === null ? undefined : answerOf(alone, grant !== null);
  const writes = saying !== null || (grant !== null && grant.editing !== null);
  const counts = answer !== undefined && quiet && !writes && state.overlay === null;
  const held = counts && alone !== null ? { answer, text: alone, at: now } : null;
  return { ...next, question: { ...question, held } };
}

/** The held answer once no key has followed its letter for `ALONE_MS`; otherwise null. */
export function dueAnswer({ question, overlay, now }: UiState, draft: string): Answer | null {
  const held = question?.held ?? null;
  if (held === null || overlay !== null || now - held.at < ALONE_MS) return null;
  return draft === held.text ? held.answer : null;
}

/** Whether a chord whose first key was pressed at `begun_at` may answer the question. */
export function mayAnswer({ question }: UiState, begun_at: number): boolean {
  return question !== null && begun_at - question.since >= SEEN_MS;
}

/** Updates the queue of questions, first in, first out; a new one never replaces the visible one. */
export function withAsks(state: UiState, asks: readonly Ask[]): UiState {
  const open = asks.filter((ask) => ask.verdict === null && ask.root_id === (state.root_id ?? ask.root_id));
  const place = new Map(state.asks.map((ask, index) => [ask.id, index]));
  const known = (ask: Ask): number => place.get(ask.id) ?? Number.MAX_SAFE_INTEGER;
  const queue = open.toSorted((a, b) => known(a) - known(b) || a.asked_at - b.asked_at);
  const ids = new Set(queue.map((ask) => ask.id));
  const put_off = new Set([...state.put_off].filter((id) => ids.has(id)));
  const next: UiState = { ...state, asks: queue, put_off };
  if (queue.length === 0) return { ...next, question: null };
  if (next.question !== null && queue[0]?.id === state.asks[0]?.id) return next;
  // Another question is at the head now: a key meant for the previous one must not answer it.
  return next.question !== null || queue.some((ask) => !put_off.has(ask.id)) ? asked(next) : next;
}

/** The first open question of an agent. */
export function askOf({ asks }: UiState, agent_id: string): Ask | null {
  return asks.find((ask) => ask.agent_id === agent_id) ?? null;
}

/** Shows the head of the queue; the time to read it starts now. */
export function asked(state: UiState): UiState {
  if (state.asks.length === 0) return { ...state, question: null };
  return { ...state, question: { since: state.now, saying: null, grant: null, held: null, page: 0 } };
}

/** Hides the questions: they stay in the queue, and do not come up again by themselves. */
export function putOff(state: UiState): UiState {
  return { ...state, question: null, put_off: new Set(state.asks.map((ask) => ask.id)) };
}

/** Turns pages of the question. */
export function turned(state: UiState, by: number): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, page: question.page + by } };
}

/** Sets the reason of a denial that is being typed; null discards it. */
export function saying(state: UiState, text: string | null): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, saying: text, held: null } };
}
