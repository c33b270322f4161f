import type { AgentState } from '../../records/agent/state.ts';
import { allTexts, textOf } from '../../records/conversation/child-text.ts';
import type { EventOf } from '../transition/event.ts';

/** A turn that ended in a step; not one that a person interrupted. */
export interface EndedTurn {
  /** Its newest message. */
  readonly seq: number;
  /** Its last words, or why it stopped. */
  readonly text: string;
  /** The failure or the limit that ended it. */
  readonly cause: string | null;
  /** It wrote to its parent in it. */
  readonly reported: boolean;
}

/** How a turn ended that led from one state to the other; null when it goes on. `reply`: its last words. */
export function endOfTurn(
  before: AgentState,
  after: AgentState,
  answered: boolean,
  reply: string | null,
): Pick<EndedTurn, 'text' | 'cause'> | null {
  if (answered && after.type === 'idle') {
    const { limit } = after;
    return { text: allTexts(reply ?? '', limit === undefined ? '' : `(${limit})`), cause: limit ?? null };
  }
  if (after.type !== 'errored' || before.type === 'errored') return null;
  const { error } = after.failure;
  return { text: `The turn stopped: ${error}`, cause: error };
}

/** The last words of a turn, with what an answer that was cut had said, since its continuation joins it; null when the turn goes on with calls. */
export function replyIn(answer: EventOf<'response'>, before: AgentState, after: AgentState): string | null {
  if (answer.calls.length > 0 && after.type !== 'idle') return null;
  const unfinished = before.type === 'requesting' ? (before.turn.unfinished ?? '') : '';
  return unfinished + textOf(answer.content);
}
