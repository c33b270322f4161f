import type { Ask } from '../../records/conversation/ask.ts';
import { type Answer, answerOf } from '../keys/answer.ts';
import type { UiState } from './ui-state.ts';

/**
 * The question of an agent that is in sight: a banner above the input, never a wall before it. What the person types goes into the
 * draft, always, and cannot answer by accident:
 *  Q1. A letter is an answer only if it stands alone: the draft was empty, and for `ALONE_MS` before it and after it no key came.
 *  Q2. Nothing answers a question that the person cannot have read: it was in sight for `ALONE_MS` before a letter, `SEEN_MS` before a chord.
 *  Q3. Pasted text is never an answer.
 */
export const ALONE_MS = 700;
export const SEEN_MS = 400;

/** A key was pressed, or something pasted. `alone`: the character it wrote into an empty draft; null for everything else. */
export function withKey(state: UiState, alone: string | null): UiState {
  const { question, now } = state;
  const next = { ...state, typed_at: now };
  if (question === null) return next;
  const quiet = now - state.typed_at >= ALONE_MS && now - question.since >= ALONE_MS;
  const answer = alone === null ? undefined : answerOf(alone);
  const counts = answer !== undefined && quiet && question.saying === null && state.overlay === null;
  const held = counts && alone !== null ? { answer, text: alone, at: now } : null;
  return { ...next, question: { ...question, held } };
}

/** The answer that a letter has become, now that nothing followed it. */
export function dueAnswer({ question, overlay, now }: UiState, draft: string): Answer | null {
  const held = question?.held ?? null;
  if (held === null || overlay !== null || now - held.at < ALONE_MS) return null;
  return draft === held.text ? held.answer : null;
}

/** Whether a chord that was begun at this time may answer the question. */
export function mayAnswer({ question }: UiState, begun_at: number): boolean {
  return question !== null && begun_at - question.since >= SEEN_MS;
}

/** First in, first out; a question that comes never takes the place of the one in sight. */
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
  // Another question is at the head now: a key that was meant for the one before must not answer it.
  return next.question !== null || queue.some((ask) => !put_off.has(ask.id)) ? asked(next) : next;
}

/** Puts the queue into sight; from now on it can be read. */
export function asked(state: UiState): UiState {
  if (state.asks.length === 0) return { ...state, question: null };
  return { ...state, question: { since: state.now, saying: null, held: null, page: 0 } };
}

/** The person looks at them later: they stay in the queue, and do not come up by themselves again. */
export function putOff(state: UiState): UiState {
  return { ...state, question: null, put_off: new Set(state.asks.map((ask) => ask.id)) };
}

/** Shows another part of what is asked. */
export function turned(state: UiState, by: number): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, page: question.page + by } };
}

/** Words for a deny are typed, changed, or taken back (null). */
export function saying(state: UiState, text: string | null): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, saying: text, held: null } };
}
