import type { Failure } from '../../records/agent/failure.ts';
import { type AgentState, newTurn } from '../../records/agent/state.ts';
import { continuation, GO_ON } from '../../records/conversation/answer-ending.ts';
import { unpaused } from '../../records/conversation/parked.ts';
import { appendEvent, appendSystem } from './append.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { ask } from './request.ts';
import { invalid, step, type Transition } from './transition-result.ts';

type Requesting = Extract<AgentState, { type: 'requesting' }>;

/** Requests that wait because their provider takes none, and what people do about that: try again, or switch the model (docs/decisions/0057-a-quota-is-a-pause.md). */
export function pausing(
  state: AgentState,
  event: EventOf<'paused' | 'reopen' | 'model' | 'retry'>,
): Transition {
  if (event.type === 'model') return switched(state, event);
  if (event.type === 'retry' && state.type === 'errored') return retried(state.failure, event);
  if (state.type !== 'requesting') return invalid(state, event, 'no request is in flight');
  if (event.type === 'paused') {
    const { held: _, paused, ...request } = state;
    // Of a pause that goes on, the beginning counts.
    const pause = { ...event.pause, at: paused?.at ?? event.pause.at };
    return step({ ...request, paused: pause }, [{ type: 'await-provider', at: pause.opens_at }]);
  }
  if (state.paused === undefined) return invalid(state, event, 'the request is not paused');
  return step(state, [tried(state, event.type === 'retry')]);
}

/** After a takeover: a request whose time has not come stays parked. `forgiven`: by a person, for whom it is tried at once if the provider has named no time. */
export function resumedPause(state: Requesting, { at, forgiven = false }: EventOf<'resume'>): Transition {
  const { opens_at = null, tries = 0 } = state.paused ?? {};
  const insists = forgiven && (opens_at === null || tries > 0);
  const is_due = insists || (opens_at !== null && opens_at <= at);
  return step(state, [is_due ? tried(state, insists) : { type: 'await-provider', at: opens_at }]);
}

function tried({ attempt }: Requesting, insists = false): Effect {
  return { type: 'request-model', attempt, ...(insists && { insists }) };
}

function switched(state: AgentState, { at, model }: EventOf<'model'>): Transition {
  const told: Effect[] = [{ type: 'set-model', model }, appendEvent('notice', `uses ${model} from now on`)];
  if (state.type !== 'requesting' || state.paused === undefined) return step(state, told);
  const next = unpaused(state, at);
  return step(next, [...told, tried(next, true)]);
}

function retried({ kind }: Failure, { at, said = '', half, left_out }: EventOf<'retry'>): Transition {
  if (left_out !== undefined) {
    const { what, behind } = left_out;
    const data = behind === undefined ? undefined : { behind };
    const told = appendEvent('left-out', `left out of what the model is sent: ${what}`, data);
    return left_out.asks ? ask(newTurn(at), [told]) : step({ type: 'idle' }, [told]);
  }
  const told = appendEvent('retried', 'tried again');
  if (kind === 'cut')
    return ask({ ...newTurn(at), unfinished: said }, [told, appendSystem(continuation(said))]);
  // Providers refuse a conversation that ends with an assistant message.
  return ask(newTurn(at), half === true ? [told, appendSystem(GO_ON)] : [told]);
}
