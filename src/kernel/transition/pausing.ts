import type { Failure, Pause } from '../../records/agent/failure.ts';
import { type AgentState, newTurn } from '../../records/agent/state.ts';
import { continuation, GO_ON } from '../../records/conversation/answer-ending.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { isParked, unpaused } from '../../records/conversation/parked.ts';
import type { WorkflowPause } from '../../records/workflow/workflow-terms.ts';
import { appendAnswer, appendEvent, appendSystem } from './append.ts';
import { schedule, stoppedText } from './calls.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { ask } from './request.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';

const FREED =
  'A limit had cut you short, and a person has let you go on: tools are on again. Continue where you stopped.';

type Requesting = Extract<AgentState, { type: 'requesting' }>;

/** Requests that wait because their provider takes none, and what people do about that: try again, or switch the model (docs/decisions/0057-a-quota-is-a-pause.md). */
export function pausing(
  state: AgentState,
  event: EventOf<'paused' | 'reopen' | 'model' | 'retry' | 'go-on'>,
): Transition {
  if (event.type === 'model') return switched(state, event);
  if (event.type === 'retry' && state.type === 'errored') return retried(state.failure, event);
  if (event.type === 'retry' && cutShort(state) !== null)
    return ask(newTurn(event.at), [appendEvent('retried', 'goes on'), appendSystem(FREED)], 1, true);
  if (state.type !== 'requesting') return invalid(state, event, 'no request is in flight');
  if (event.type === 'paused') {
    const { held: _, paused, ...request } = state;
    // Of a pause that goes on, the beginning counts.
    const pause =
      paused === undefined ? event.pause : { ...event.pause, at: paused.at, told_at: event.pause.at };
    return step({ ...request, paused: pause }, [{ type: 'await-provider', at: pause.opens_at }]);
  }
  if (state.paused === undefined) return invalid(state, event, 'the request is not paused');
  const as = event.type === 'reopen' ? event.as : event.type;
  // One whose time has come may find another one's try under way: it waits on until it is taken.
  const waits_on = state.paused.spent !== 'person' && (as === undefined || as === 'go-on');
  const next = waits_on ? state : unpaused(state, event.at);
  return step(next, [tried(next, as === 'retry')]);
}

/** What people read of a pause in the conversation of the run. */
export function pauseTold(paused: WorkflowPause | null): Effect {
  const what = paused === null ? 'goes on' : `${paused.stops ? 'stopped' : 'paused'} by ${paused.by}`;
  return appendEvent('notice', `the workflow ${what}`);
}

const BROKEN_OFF =
  'Interrupted: a person stopped the workflow while this call ran. It may have happened in full, in part or not at all. Check before you repeat it.';

/** Breaks off what a process does for the agent: its request is made again once the run goes on. What is parked in the ledger stays. */
export function halted(state: AgentState, event: EventOf<'halt'>, context: TransitionContext): Transition {
  if (state.type === 'requesting' && state.paused === undefined) {
    const { asked: _, held: __, ...request } = state;
    return step(request, [{ type: 'abort' }, tried(state)]);
  }
  if (state.type !== 'executing') return invalid(state, event, 'nothing is under way');
  const live = state.running.filter((one) => !isParked(one));
  if (live.length === 0) return invalid(state, event, 'all its calls are parked');
  const over = [...live.map(({ call }) => call), ...state.queued];
  return schedule(
    {
      ...state,
      running: state.running.filter(isParked),
      queued: [],
      results: [...state.results, ...over.map(({ id }) => id)],
    },
    [
      { type: 'abort' },
      ...live.map(({ call }) =>
        appendAnswer(call, 'interrupted', stoppedText(BROKEN_OFF, context.printed?.(call.id))),
      ),
      ...state.queued.map((call) =>
        appendAnswer(call, 'cancelled', 'Cancelled: a person stopped the workflow before this call ran.'),
      ),
    ],
    context,
  );
}

/** After a takeover: a request whose time has not come stays parked, unless a person resumed it and the provider has named no time. */
export function resumedPause(
  state: Requesting,
  pause: Pause,
  { at, forgiven = false }: EventOf<'resume'>,
): Transition {
  if (forgiven && triedForPerson(pause)) {
    const next = unpaused(state, at);
    return step(next, [tried(next, true)]);
  }
  const { opens_at } = pause;
  const is_due = opens_at !== null && opens_at <= at;
  return step(state, [is_due ? tried(state) : { type: 'await-provider', at: opens_at }]);
}

/** Whether a person who resumes the agent has it try its provider at once. */
export function triedForPerson({ spent, opens_at, tries }: Pause): boolean {
  return spent !== 'person' && (opens_at === null || tries > 0);
}

function tried({ attempt }: Requesting, insists = false): Effect {
  return { type: 'request-model', attempt, ...(insists && { insists }) };
}

function switched(state: AgentState, { at, model, thinking }: EventOf<'model'>): Transition {
  const effort = thinking === undefined ? '' : `, effort ${thinking},`;
  const told: Effect[] = [
    { type: 'set-model', model, thinking },
    appendEvent('notice', `uses ${model}${effort} from now on`),
  ];
  if (state.type !== 'requesting' || state.paused === undefined) return step(state, told);
  const next = unpaused(state, at);
  return step(next, [...told, tried(next, true)]);
}

function retried({ kind }: Failure, { at, said = '', half, left_out }: EventOf<'retry'>): Transition {
  if (left_out !== undefined) {
    const { what, behind } = left_out;
    const data = behind === undefined ? undefined : { behind };
    const told = appendEvent('left-out', `left out of what the model is sent: ${what}`, data);
    return left_out.asks ? ask(newTurn(at), [told], 1, true) : step({ type: 'idle' }, [told]);
  }
  const told = appendEvent('retried', 'tried again');
  if (kind === 'cut')
    return ask({ ...newTurn(at), unfinished: said }, [told, appendSystem(continuation(said))], 1, true);
  // It was told to answer without tools, and that answer did not come in time.
  if (kind === 'timed_out') return ask(newTurn(at), [told, appendSystem(FREED)], 1, true);
  // Providers refuse a conversation that ends with an assistant message.
  return ask(newTurn(at), half === true ? [told, appendSystem(GO_ON)] : [told], 1, true);
}
