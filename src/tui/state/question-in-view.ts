import type { Ask } from '../../records/conversation/ask.ts';
import { chosenValue } from '../../records/question/question.ts';
import { type Answer, answerOf } from './answer.ts';
import { EMPTY_UI, type HeldLetter, type Question, type UiState } from './ui-state.ts';

/**
 * The visible question of an agent: a banner above the input that does not block it. What the person types always goes into the draft
 * and cannot answer by accident:
 *  Q1. A letter, or the digit of a choice, answers only if it stands alone: the draft was empty, and no other key came within `ALONE_MS` before and after it.
 *      `y` or `n` pressed twice, no faster than a key repeats by itself, needs no time after it; the second press is one for the next question.
 *  Q2. Nothing answers a question that cannot have been read: it must have been visible for `ALONE_MS` before a letter, for `SEEN_MS` before a chord.
 *  Q3. Pasted text never answers.
 *  Q4. After an answer, or when the person called the question up, letters are armed until another key is typed: they answer at once, under Q2 as a
 *      chord does, and none is written. `y` or `n` that comes too early is kept for the first question of the queue that has no letter yet, and answers it
 *      once it has been visible for `ALONE_MS`, unless another key comes; a key that is held down keeps none. A question that somebody else has answered
 *      ends this.
 *  Q5. The panel with a rule, which the person opened, takes every letter instead of the draft. `y` there needs no time before it, only after it, and
 *      none counts after another letter, until an arrow is pressed. If a letter opened it that may have been meant as text, Q1 holds, and any other key turns
 *      all of it into text.
 */
export const ALONE_MS = 700;
export const SEEN_MS = 400;
/** A key that is held down repeats faster than this. */
export const REPEAT_MS = 200;

/** The state after a key or a paste. `alone`: the character that it wrote into an empty draft; `again`: one written behind itself alone; null for everything else. */
export function withKey(state: UiState, alone: string | null, again: string | null = null): UiState {
  const { question, now } = state;
  const next = { ...state, typed_at: now, armed: false, ahead: EMPTY_UI.ahead };
  if (question === null)
    return { ...next, armed: state.armed && alone !== null && answerOf(alone, false) !== undefined };
  const { saying, grant, held: before } = question;
  const holds = (held: HeldLetter | null): UiState => ({ ...next, question: { ...question, held } });
  const writes = saying !== null || (grant !== null && grant.editing !== null) || isHidden(state.overlay);
  if (takesLetters(state) && !writes) return withPanelKey(next, question, alone, state);
  const gap = now - state.typed_at;
  const letter = again ?? alone;
  if (before !== null && !state.armed && letter !== null && !writes && isAgain(before, letter)) {
    const more = { ...before, text: before.text + letter };
    if (gap < REPEAT_MS) return holds({ ...more, at: now });
    return { ...holds({ ...more, at: 0 }), ahead: withAhead(state, before) };
  }
  const answer = alone === null || writes ? undefined : meaningOf(state, alone);
  if (answer === undefined || alone === null) return holds(null);
  if (!state.armed) {
    const quiet = gap >= ALONE_MS && now - question.since >= ALONE_MS;
    return holds(quiet ? { answer, text: alone, at: now } : null);
  }
  const seen = now - question.since >= SEEN_MS;
  if (gap < REPEAT_MS || !(seen || TWICE.has(answer))) return { ...holds(null), armed: true };
  if (before?.text !== alone)
    return { ...holds({ answer, text: alone, at: seen ? 0 : now, unwritten: true }), armed: true };
  const ahead = withAhead(state, before);
  return { ...holds(seen ? { ...before, at: 0 } : before), armed: true, ahead };
}

/** Whether a letter behind the held one only says the same: no word begins with it doubled. */
function isAgain({ answer, text }: HeldLetter, letter: string): boolean {
  if (answer === 'allow_alike') return letter === 'Y' || letter === 'y';
  return TWICE.has(answer) && text.startsWith(letter);
}

/** With a letter for the first question behind the visible one that has none yet. */
function withAhead({ asks, ahead }: UiState, { answer, text }: HeldLetter): UiState['ahead'] {
  const next = asks.slice(1).find(({ id }) => !ahead.has(id));
  if (next === undefined || !TWICE.has(answer)) return ahead;
  return new Map([...ahead, [next.id, { answer, text: text.slice(0, 1), at: 0, unwritten: true }]]);
}

/** A key while a rule is shown, or beside the list of agents (Q5). */
function withPanelKey(
  next: UiState,
  question: Question,
  alone: string | null,
  { armed, typed_at, now }: UiState,
): UiState {
  const { grant } = question;
  const after = (held: HeldLetter | null, arms: boolean) => {
    const typed = grant?.typed == null || alone === null ? null : grant.typed + alone;
    return { ...next, armed: arms, question: { ...question, grant: grant && { ...grant, typed }, held } };
  };
  const answer = alone === null ? undefined : answerOf(alone, grant !== null);
  const [gap, seen] = [now - typed_at, now - question.since];
  if (alone === null) return after(null, armed);
  if (answer === undefined || gap < REPEAT_MS) return after(null, false);
  const { held } = question;
  if (held !== null) return after(held.text === alone ? { ...held, at: 0 } : null, false);
  const [quiet, read] = [gap >= ALONE_MS && seen >= ALONE_MS, seen >= SEEN_MS];
  const counts = grant?.typed != null ? quiet : read && (armed || grant === null);
  return after(counts ? { answer, text: alone, at: now } : null, armed);
}

/** What a key answers: by its letter, or as the number of a choice. */
function meaningOf({ asks: [ask] }: UiState, text: string): Answer | undefined {
  const chooses = /^[0-9]$/.test(text) && ask !== undefined && chosenValue(ask, text) !== null;
  return chooses ? 'choose' : answerOf(text, false);
}

/** Answers that a second press of their letter confirms. */
const TWICE: ReadonlySet<Answer> = new Set(['allow', 'deny']);

/** After the person has answered: the questions leave the queue before the ledger says so, and letters stay armed for the others. */
export function answered(state: UiState, ids: readonly string[]): UiState {
  const next = withAsks({ ...state, answered: new Set([...state.answered, ...ids]) }, state.asks);
  return { ...next, armed: next.asks.length > 0 };
}

/** The held answer once no key has followed its letter for `ALONE_MS`; otherwise null. `draft`: null where letters are not written. */
export function dueAnswer({ question, overlay, now }: UiState, draft: string | null): Answer | null {
  const held = question?.held ?? null;
  if (held === null || isHidden(overlay) || now - held.at < ALONE_MS) return null;
  const alone = draft === null || draft === (held.unwritten ? '' : held.text);
  return takesLetters({ question, overlay }) || alone ? held.answer : null;
}

/** Whether letters go to the question and none to the draft: a rule is shown, or the list of agents. */
export function takesLetters({ question, overlay }: Pick<UiState, 'question' | 'overlay'>): boolean {
  return isInPanel(question) || overlay?.type === 'agents';
}

/** The list of agents shows the question of the selected one. */
function isHidden(overlay: UiState['overlay']): boolean {
  return overlay !== null && overlay.type !== 'agents';
}

/** With the question of the agent that is selected in the list at the head of the queue, where it can be answered. */
export function withSelectedAsk(state: UiState): UiState {
  const { overlay, asks, question } = state;
  if (overlay?.type !== 'agents') return state;
  const ask = askOf(state, overlay.selected ?? state.view ?? '');
  if (ask === null || (ask === asks[0] && question !== null && question.grant === null)) return state;
  return asked({ ...state, asks: [ask, ...asks.filter(({ id }) => id !== ask.id)] });
}

/** Whether a rule is shown, which takes the letters that would otherwise be written. */
export function isInPanel(question: Question | null): boolean {
  return question !== null && question.grant !== null && question.grant.editing === null;
}

/** Whether a chord whose first key was pressed at `begun_at` may answer the question. */
export function mayAnswer({ question }: UiState, begun_at: number): boolean {
  return question !== null && begun_at - question.since >= SEEN_MS;
}

/** Updates the queue of questions, first in, first out; a new one never replaces the visible one. */
export function withAsks(state: UiState, asks: readonly Ask[]): UiState {
  const { root_id } = state;
  const open = asks.filter(
    (ask) => ask.verdict === null && ask.root_id === (root_id ?? ask.root_id) && !state.answered.has(ask.id),
  );
  const place = new Map(state.asks.map((ask, index) => [ask.id, index]));
  const known = (ask: Ask): number => place.get(ask.id) ?? Number.MAX_SAFE_INTEGER;
  const queue = open.toSorted((a, b) => known(a) - known(b) || a.asked_at - b.asked_at);
  const ids = new Set(queue.map((ask) => ask.id));
  const put_off = new Set([...state.put_off].filter((id) => ids.has(id)));
  const next: UiState = { ...state, asks: queue, put_off };
  if (queue.length === 0) return { ...next, question: null, armed: false };
  if (next.question !== null && queue[0]?.id === state.asks[0]?.id) return next;
  // Another question is at the head now: a key meant for the previous one must not answer it, nor one that was to answer at once.
  const armed = state.armed && replacedIn(state, next) === null;
  return next.question !== null || queue.some((ask) => !put_off.has(ask.id))
    ? asked({ ...next, armed })
    : next;
}

/** The visible question that another one has replaced although the person did not answer it: somebody else did, or its agent was stopped. */
export function replacedIn({ asks: [ask], question, answered }: UiState, next: UiState): Ask | null {
  if (ask === undefined || question === null || answered.has(ask.id) || next.asks.length === 0) return null;
  return next.asks.some(({ id }) => id === ask.id) ? null : ask;
}

/** The first open question of an agent. */
export function askOf({ asks }: UiState, agent_id: string): Ask | null {
  return asks.find((ask) => ask.agent_id === agent_id) ?? null;
}

/** Shows the head of the queue; the time to read it starts now. */
export function asked(state: UiState): UiState {
  const [ask] = state.asks;
  if (ask === undefined) return { ...state, question: null };
  const kept = state.ahead.get(ask.id);
  const held = kept === undefined ? null : { ...kept, at: state.now };
  return { ...state, question: { since: state.now, saying: null, grant: null, held, page: 0 } };
}

/** Hides the questions: they stay in the queue, and do not come up again by themselves. */
export function putOff(state: UiState): UiState {
  return { ...state, question: null, put_off: new Set(state.asks.map((ask) => ask.id)) };
}

export function turned(state: UiState, by: number): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, page: question.page + by } };
}

/** Sets the reason of a denial that is being typed; null discards it. */
export function saying(state: UiState, text: string | null): UiState {
  const { question } = state;
  return question === null ? state : { ...state, question: { ...question, saying: text, held: null } };
}
