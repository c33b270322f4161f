import type { Executing } from '../../records/agent/state.ts';
import { isAsked } from '../../records/conversation/parked.ts';
import { appendAnswer, appendEvent } from './append.ts';
import { schedule, withoutCall } from './calls.ts';
import type { EventOf } from './event.ts';
import type { TransitionContext } from './transition-result.ts';
import { invalid, step, type Transition } from './transition-result.ts';

/** Parks a call that needs a person's approval, and asks for it. */
export function asked(state: Executing, event: EventOf<'call-asked'>): Transition {
  const { ask } = event;
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
 * An answer counts once, and only while its call is waiting for it. The turn's clock was stopped meanwhile: the start of the turn moves by the time
 * since the oldest pending approval, and the other approvals count from now, so that overlapping waits count once.
 */
export function askAnswered(
  state: Executing,
  event: EventOf<'ask-answered'>,
  context: TransitionContext,
): Transition {
  const open = state.running.find((running) => running.ask?.id === event.ask_id);
  if (open?.ask === undefined || open.approved === true)
    return invalid(state, event, `no call waits for the answer ${event.ask_id}`);
  const { call, ask } = open;
  const next = clockSetBack(state, event.at);
  if (event.verdict === 'allow') {
    const running = next.running.map((one) =>
      one.call.id === call.id ? { call, ask, approved: true } : one,
    );
    const granted = [...(next.turn.granted ?? []), ask.id];
    const turn = event.turn === true ? { ...next.turn, granted } : next.turn;
    return step({ ...next, turn, running }, [
      appendEvent('answered', `allowed by ${event.by}: ${call.name}`, { call_id: call.id }),
      { type: 'run-call', call },
    ]);
  }
  // For the model, "you" would mean itself.
  const who = event.by === 'you' ? 'the user' : event.by;
  const note = event.note === '' ? '' : ` They say: ${event.note}`;
  const denied = appendAnswer(
    call,
    'denied',
    `${call.name} was denied by ${who}. Do not try to get around it.${note}`,
  );
  return schedule(
    withoutCall(next, call),
    [appendEvent('answered', `denied by ${event.by}: ${call.name}`, { call_id: call.id }), denied],
    context,
  );
}

function clockSetBack(state: Executing, now: number): Executing {
  const since = state.running.flatMap((one) => (isAsked(one) ? one.ask.at : []));
  const stood_still = Math.max(0, now - Math.min(...since));
  const turn = { ...state.turn, started_at: state.turn.started_at + stood_still };
  const running = state.running.map((one) =>
    isAsked(one) ? { ...one, ask: { ...one.ask, at: Math.max(one.ask.at, now) } } : one,
  );
  return { ...state, turn, running };
}
