import { type AgentState, isResting, type Waiting } from '../../records/agent/state.ts';
import { appendEvent, startTimer } from './append.ts';
import type { EventOf } from './event.ts';
import { invalid, step, type Transition, type TransitionContext } from './transition-result.ts';

/** A person makes a resting agent wait (`/wait`): like the tool, but without a model request afterwards. */
export function humanWait(
  state: AgentState,
  event: EventOf<'human-wait'>,
  context: TransitionContext,
): Transition {
  if (context.reports) return invalid(state, event, 'the agent has one task and waits for nothing else');
  if (!isResting(state.type)) return invalid(state, event, 'the agent is at work; interrupt it first');
  const { wait, at } = event;
  // A failure, or what cut the last turn short, is still to be seen and retried afterwards.
  const is_cut = state.type === 'idle' && (state.limit ?? state.stopped_by) !== undefined;
  const rest = state.type === 'errored' || is_cut ? { rest: state } : {};
  return step({ type: 'waiting', wait, since: at, ...rest }, [startTimer(HUMAN_WAIT, wait)]);
}

/** Id of the timer of a person's wait. */
export const HUMAN_WAIT = 'human-wait';

/** Shows the result of the wait to people only. */
export function waitEnded({ rest = { type: 'idle' } }: Waiting, event: EventOf<'wait-ended'>): Transition {
  return step(rest, [appendEvent('waited', event.output, { ...event.waited })]);
}
