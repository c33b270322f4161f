import type { AgentState, Call, ChildOutcome, Executing } from '../../records/agent/state.ts';
import { resultText, withPartial } from '../../records/conversation/child-text.ts';
import type { ResultContent } from '../../records/conversation/message.ts';
import { settled } from './calls.ts';
import type { EventOf } from './event.ts';
import { childResult } from './fan-in.ts';
import type { TransitionContext } from './transition-result.ts';
import { invalid, step, type Transition } from './transition-result.ts';

/** Parks the call until its child's outcome settles it. */
export function delegated(state: Executing, event: EventOf<'call-delegated'>): Transition {
  const { call_id, child, consequences } = event;
  const open = state.running.find((running) => running.call.id === call_id);
  if (open === undefined || open.wait !== undefined || open.child !== undefined)
    return invalid(state, event, `call ${call_id} is not running`);
  if (state.running.some((one) => one.child === child))
    return invalid(state, event, `agent ${child} is awaited already`);
  const running = state.running.map((one) => (one === open ? { ...one, child } : one));
  return step({ ...state, running }, consequences);
}

/** Routes a child's outcome to the call that delegated to it, or to the fan-in. */
export function childDone(
  state: AgentState,
  event: EventOf<'child-result'>,
  context: TransitionContext,
): Transition {
  if (state.type !== 'executing') return childResult(state, event, context);
  const call = state.running.find((running) => running.child === event.child.agent_id)?.call;
  return call === undefined
    ? childResult(state, event, context)
    : delegatedResult(state, event, call, context);
}

/** The outcome of a delegated task becomes the result of the delegating call. */
function delegatedResult(
  state: Executing,
  event: EventOf<'child-result'>,
  call: Call,
  context: TransitionContext,
): Transition {
  const { outcome, did } = event.child;
  const done = outcome.type === 'success';
  const result: ResultContent = {
    call_id: call.id,
    name: call.name,
    status: done ? 'ok' : 'error',
    output: done ? resultText(outcome.result, outcome.limit) : failureText(outcome),
    ...(did === undefined ? {} : { did }),
  };
  return settled(
    state,
    { type: 'call-settled', at: event.at, result, consequences: [], spawned: [] },
    context,
  );
}

function failureText({ error, error_kind, partial }: Extract<ChildOutcome, { type: 'failure' }>): string {
  return withPartial(`the sub-agent failed (${error_kind}): ${error}`, partial ?? '');
}
