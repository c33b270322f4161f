import type { Failure } from '../../records/agent/failure.ts';
import type { Call, Executing, RunningCall, SpawnedChild } from '../../records/agent/state.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import { isAsked } from '../../records/conversation/parked.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { appendAnswer, appendResult, startTimer } from './append.ts';
import {
  clearDeaths,
  countFailure,
  isRepeatedFailure,
  MAX_IDENTICAL_FAILURES,
  repetitionNote,
} from './breakers.ts';
import type { Effect } from './effect.ts';
import type { EventOf } from './event.ts';
import { beginFanIn, cancelChildren, leaveFanIn } from './fan-in.ts';
import { nextRequest } from './request.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';
import { endInFailure } from './turn-end.ts';

/** Maximum characters of a repeated error in the failure. */
const ERROR_LENGTH = 300;

/** Starts queued calls in order, in parallel if all of them allow it. Without any left, starts the fan-in or the next request. */
export function schedule(
  state: Executing,
  effects: readonly Effect[],
  context: TransitionContext,
): Transition {
  const running: RunningCall[] = [...state.running];
  const started: Effect[] = [];
  for (const call of state.queued) {
    if (!mayStart(call, running)) break;
    running.push({ call });
    started.push({ type: 'run-call', call });
  }
  const queued = state.queued.slice(started.length);
  if (running.length > 0) return step({ ...state, running, queued }, [...effects, ...started]);
  if (state.spawned.length > 0) return beginFanIn(state, effects, context);
  return nextRequest(state.turn, effects, context);
}

function mayStart(call: Call, running: readonly RunningCall[]): boolean {
  if (running.length === 0) return true;
  // Two calls of a message may share an id: run one after the other, each gets its own result (law 5).
  return call.side_by_side && running.every((one) => one.call.side_by_side && one.call.id !== call.id);
}

/** Law 1: one running call becomes one result; nothing else changes. */
export function settled(
  state: Executing,
  event: EventOf<'call-settled'>,
  context: TransitionContext,
): Transition {
  const { result, consequences = [], spawned = [] } = event;
  const call = state.running.find((running) => running.call.id === result.call_id)?.call;
  if (call === undefined) return invalid(state, event, `call ${result.call_id} is not running`);
  const turn = { ...clearDeaths(state.turn, call), failing: countFailure(state.turn, call, result) };
  // The result of a delegated call is the child's text.
  const note = state.running.some((one) => one.call === call && one.child) ? undefined : call.note;
  const told = { ...result, output: withNotes(result.output, note, repetitionNote(state.turn, turn)) };
  const effects: Effect[] = [...consequences, appendResult(told)];
  const next: Executing = {
    ...withoutCall(state, call),
    turn,
    spawned: withChildren(state.spawned, spawned),
  };
  return isRepeatedFailure(turn)
    ? breakTurn(next, effects, result, context)
    : schedule(next, effects, context);
}

/** `note` becomes a field of a result that is a JSON object: programs read it. */
function withNotes(output: string, note: string | undefined, warning: string | null): string {
  const noted = note === undefined ? output : withNote(output, note);
  return warning === null ? noted : `${noted}\n[${warning}]`;
}

function withNote(output: string, note: string): string {
  const known = parsedObject(output);
  if (typeof known?.note === 'string') return JSON.stringify({ ...known, note: `${known.note} ${note}` });
  return output.replace(/\}?$/, (end) => (end ? `,"note":${JSON.stringify(note)}}` : `\n[${note}]`));
}

/** Moves the call from running to settled. */
export function withoutCall(state: Executing, call: Call): Executing {
  const running = state.running.filter((one) => one.call.id !== call.id);
  return { ...state, running, results: [...state.results, call.id] };
}

/** Each child is awaited once, even if several calls name it (law 1). */
function withChildren(
  known: readonly SpawnedChild[],
  added: readonly SpawnedChild[],
): readonly SpawnedChild[] {
  if (added.length === 0) return known;
  const all = new Map(known.map((child) => [child.agent_id, child]));
  for (const child of added) if (!all.has(child.agent_id)) all.set(child.agent_id, child);
  return [...all.values()];
}

/** Ends the turn because a call keeps failing, with a result for every open call (law 5). */
function breakTurn(
  state: Executing,
  effects: readonly Effect[],
  last: ResultContent,
  context: TransitionContext,
): Transition {
  const reason = 'the turn ended: the same call failed again and again';
  const why = cutText((last.facts?.refused ?? last.output).replace(`${last.name}: `, ''), ERROR_LENGTH);
  const help = last.name === 'submit_result' ? '. Another model or a simpler schema may help' : '';
  const failure: Failure = {
    kind: 'repeated_failure',
    error: `${last.name} failed ${MAX_IDENTICAL_FAILURES} times in the same way: ${why}${help}`,
    retryable: true,
  };
  const stopped = [
    ...effects,
    ...stopCalls(state, [], reason, context),
    ...leaveFanIn(state, `Cancelled: ${reason}`),
  ];
  return endInFailure(failure, stopped, context);
}

export function parked(state: Executing, event: EventOf<'call-parked'>): Transition {
  const { call_id, wait } = event;
  if (!state.running.some((running) => running.call.id === call_id)) {
    return invalid(state, event, `call ${call_id} is not running`);
  }
  const running = state.running.map((one) => (one.call.id === call_id ? { ...one, wait } : one));
  return step({ ...state, running }, [startTimer(call_id, wait)]);
}

/** The result of a call that was stopped, with what it had printed. */
export function stoppedText(why: string, printed: string | undefined): string {
  return printed ? `${why}\nIt had printed:\n${printed}` : why;
}

/** Stops running calls. Every open call gets one result (law 5): the one in `known`, otherwise `cancelled`. */
export function stopCalls(
  state: Executing,
  known: readonly ResultContent[],
  reason: string,
  { printed }: TransitionContext,
): Effect[] {
  const calls = [...state.running.map((running) => running.call), ...state.queued];
  const answers = calls.map((call) => {
    const result = known.find((one) => one.call_id === call.id);
    return result === undefined
      ? appendAnswer(call, 'cancelled', stoppedText(`Cancelled: ${reason}`, printed?.(call.id)))
      : appendResult(result);
  });
  const children = state.running.flatMap(({ child }) => child ?? []);
  const ask_ids = state.running.filter(isAsked).map(({ ask }) => ask.id);
  const voided: Effect[] = ask_ids.length === 0 ? [] : [{ type: 'void-asks', ask_ids }];
  return [{ type: 'abort' }, ...cancelChildren(children, reason), ...voided, ...answers];
}
