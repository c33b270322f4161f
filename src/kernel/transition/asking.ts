import type { AgentState, Call, Executing, OpenQuestion, RunningCall } from '../../records/agent/state.ts';
import { isAsked, isParked, laterTurn } from '../../records/conversation/parked.ts';
import { appendAnswer, appendEvent } from './append.ts';
import { schedule, withoutCall } from './calls.ts';
import type { Effect, ProgramAnswer } from './effect.ts';
import type { AgentEvent, EventOf } from './event.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';

type Requesting = Extract<AgentState, { type: 'requesting' }>;

/** Parks a call that needs a person's approval, and asks for it. */
export function asked(state: Executing, event: EventOf<'call-asked'>): Transition {
  const { ask } = event;
  if (ask.subject_kind === 'question') return toolAsked(state, event);
  const open = state.running.find((running) => running.call.id === ask.call_id);
  if (open === undefined || open.wait !== undefined || open.child !== undefined || open.ask !== undefined)
    return invalid(state, event, `call ${ask.call_id} is not running`);
  const running = state.running.map((one) =>
    one === open ? { call: one.call, ask: { id: ask.id, at: event.at } } : one,
  );
  return step({ ...state, running }, [
    { type: 'enter-ask', ask },
    appendEvent('asked', `asked: ${ask.tool} ${ask.subject}`, { call_id: open.call.id }),
  ]);
}

/**
 * Applies the answer to a call's approval or question. It counts once, and only while the call waits for it. The turn's clock was stopped meanwhile
 * (`restartTurnClock`).
 */
export function askAnswered(
  state: Executing,
  event: EventOf<'ask-answered'>,
  context: TransitionContext,
): Transition {
  if (askerOf(state, event.ask_id) !== undefined) return toolAnswered(state, event);
  const open = state.running.find((running) => running.ask?.id === event.ask_id);
  if (open?.ask === undefined || open.approved === true)
    return invalid(state, event, `no call waits for the answer ${event.ask_id}`);
  const { call, ask } = open;
  const next = restartTurnClock(state, event.at);
  if (event.verdict === 'allow') {
    const running = next.running.map((one) =>
      one.call.id === call.id ? { call, ask, approved: true } : one,
    );
    const granted = [...(next.turn.granted ?? []), ask.id];
    const turn = event.turn === true ? { ...next.turn, granted } : next.turn;
    return step({ ...next, turn, running }, [
      answered(call, `allowed by ${event.by}`),
      { type: 'run-call', call },
    ]);
  }
  const denied = appendAnswer(call, 'denied', deniedText(call.name, event));
  return schedule(withoutCall(next, call), [answered(call, `denied by ${event.by}`), denied], context);
}

function answered({ id: call_id, name }: Call, answer: string): Effect {
  return appendEvent('answered', `${answer}: ${name}`, { call_id, answer });
}

/** The denial as the model or the agent program reads it. */
export function deniedText(tool: string, { by, note }: Pick<ProgramAnswer, 'by' | 'note'>): string {
  // For the model, "you" would mean itself.
  const who = by === 'you' ? 'the user' : by;
  const said = note === '' ? '' : ` They say: ${note}`;
  return `${tool} was denied by ${who}. Do not try to get around it.${said}`;
}

/** A running call asks a person a question, and goes on running. */
function toolAsked(state: Executing, { ask, at }: EventOf<'call-asked'>): Transition {
  const { id, tool, subject } = ask;
  const open = state.running.find(({ call }) => call.id === ask.call_id);
  if (open === undefined || isParked(open))
    return invalid(state, { type: 'call-asked', at, ask }, `call ${ask.call_id} is not running`);
  const questions = [...(open.questions ?? []), { id, at, tool, subject }];
  const running = state.running.map((one) => (one === open ? { ...one, questions } : one));
  return step({ ...state, running }, [
    { type: 'enter-ask', ask },
    appendEvent('asked', `asks: ${tool} ${subject}`, { call_id: open.call.id }),
  ]);
}

/** Applies the answer to a running call's question; it counts once, while the question is open. */
function toolAnswered(state: Executing, event: EventOf<'ask-answered'>): Transition {
  const { ask_id, at, verdict, note, by, dismissed } = event;
  const asker = askerOf(state, ask_id) as RunningCall;
  const next = withoutQuestion(restartTurnClock(state, at), ask_id);
  const word = verdict === 'allow' ? 'answered' : dismissed === true ? 'dismissed' : 'declined';
  return step(next, [
    answered(asker.call, `${word} by ${by}`),
    { type: 'answer-program', ask_id, verdict, note, by, ...(dismissed === true && { dismissed }) },
  ]);
}

/** Withdraws a question whose asker no longer waits for the answer. */
export function questionWithdrawn(state: AgentState, event: EventOf<'question-withdrawn'>): Transition {
  if (state.type !== 'executing' || askerOf(state, event.ask_id) === undefined)
    return invalid(state, event, `no call asks ${event.ask_id}`);
  return step(withoutQuestion(restartTurnClock(state, event.at), event.ask_id), []);
}

function askerOf({ running }: Executing, ask_id: string): RunningCall | undefined {
  return running.find(({ questions = [] }) => questions.some(({ id }) => id === ask_id));
}

function withoutQuestion(state: Executing, ask_id: string): Executing {
  const running = state.running.map(({ questions, ...one }) => {
    const left = (questions ?? []).filter(({ id }) => id !== ask_id);
    return left.length === 0 ? one : { ...one, questions: left };
  });
  return { ...state, running };
}

/**
 * Restarts the turn's clock, which was stopped since the oldest pending approval or question: the start of the turn moves by that time. Those that are still
 * pending count from now, so that overlapping waits count once.
 */
function restartTurnClock(state: Executing, now: number): Executing {
  const since = state.running.flatMap((one) => [
    ...(isAsked(one) ? [one.ask.at] : []),
    ...(one.questions ?? []).map(({ at }) => at),
  ]);
  const stood_still = Math.max(0, now - Math.min(...since));
  const turn = laterTurn(state.turn, stood_still);
  const later = <One extends { readonly at: number }>(one: One): One => ({
    ...one,
    at: Math.max(one.at, now),
  });
  const running = state.running.map((one) => ({
    ...one,
    ...(isAsked(one) && { ask: later(one.ask) }),
    ...(one.questions !== undefined && { questions: one.questions.map(later) }),
  }));
  return { ...state, turn, running };
}

/** An agent program asks a person a question during its request, which goes on meanwhile. */
export function programAsked(state: Requesting, { ask, at }: EventOf<'call-asked'>): Transition {
  const { id, tool, subject } = ask;
  const asked = [...(state.asked ?? []), { id, at, tool, subject }];
  return step({ ...state, asked }, [
    { type: 'enter-ask', ask },
    appendEvent('asked', `asked: ${tool} ${subject}`),
  ]);
}

/** Applies the answer to an agent program's question; the turn's clock was stopped as in `restartTurnClock`. */
export function programAnswered(state: Requesting, event: EventOf<'ask-answered'>): Transition {
  const { asked = [], ...others } = state;
  const { ask_id, at, verdict, note, by } = event;
  const open = asked.find(({ id }) => id === ask_id);
  if (open === undefined) return invalid(state, event, `no program waits for the answer ${ask_id}`);
  const stood_still = Math.max(0, at - Math.min(...asked.map((one) => one.at)));
  const left = asked.filter((one) => one !== open).map((one) => ({ ...one, at: Math.max(one.at, at) }));
  const granted = event.turn === true ? { granted: [...(state.turn.granted ?? []), ask_id] } : {};
  const turn = { ...laterTurn(state.turn, stood_still), ...granted };
  const next: Requesting = { ...others, turn, ...(left.length > 0 && { asked: left }) };
  return step(next, [
    appendEvent('answered', `${verdict === 'allow' ? 'allowed' : 'denied'} by ${by}: ${open.tool}`),
    { type: 'answer-program', ask_id, verdict, note, by },
  ]);
}

/** Withdraws the open questions of requests and calls that have ended, however they ended. */
export function withdrawn(before: AgentState, event: AgentEvent, transition: Transition): Transition {
  const asked = questionsOf(before);
  if (asked.length === 0 || !transition.ok) return transition;
  // The ledger has voided them already.
  if (event.type === 'kill') return transition;
  const { state, effects } = transition;
  const open = new Set(questionsOf(state).map(({ id }) => id));
  if (event.type === 'ask-answered') open.add(event.ask_id);
  const ask_ids = asked.map(({ id }) => id).filter((id) => !open.has(id));
  return ask_ids.length === 0 ? transition : step(state, [{ type: 'void-asks', ask_ids }, ...effects]);
}

function questionsOf(state: AgentState): readonly OpenQuestion[] {
  if (state.type === 'requesting') return state.asked ?? [];
  return state.type === 'executing' ? state.running.flatMap(({ questions = [] }) => questions) : [];
}
