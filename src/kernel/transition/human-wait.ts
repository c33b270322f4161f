import { type AgentState, isResting } from '../../records/agent/state.ts';
import { appendEvent } from './append.ts';
import type { EventOf } from './event.ts';
import type { TransitionContext } from './transition-result.ts';
import { invalid, step, type Transition } from './transition-result.ts';

/** A person makes a resting agent wait (`/wait`): like the tool, but without a model request afterwards. */
export function humanWait(
  state: AgentState,
  event: EventOf<'human-wait'>,
  context: TransitionContext,
): Transition {
  if (context.reports) return invalid(state, event, 'the agent has one task and waits for nothing else');
  if (!isResting(state.type)) return invalid(state, event, 'the agent is at work; interrupt it first');
  const { wait, at } = event;
  return step({ type: 'waiting', wait, since: at }, [
    { type: 'start-timer', call_id: HUMAN_WAIT, at: wait.deadline },
  ]);
}

/** Id of the timer of a person's wait. */
export const HUMAN_WAIT = 'human-wait';

/** Shows the result of the wait to people only. */
export function waitEnded(event: EventOf<'wait-ended'>): Transition {
  return step({ type: 'idle' }, [
    { type: 'consume-mail', mail_ids: event.mail_ids },
    appendEvent('waited', event.output),
  ]);
}
