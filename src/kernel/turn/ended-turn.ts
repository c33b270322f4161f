import type { Agent } from '../../records/agent/agent.ts';
import type { Deeds } from '../../records/agent/deeds.ts';
import { deedsOf } from '../../records/agent/deeds-line.ts';
import { type AgentState, isTerminal, restAfterSummary } from '../../records/agent/state.ts';
import { allTexts, assistantText } from '../../records/conversation/child-text.ts';
import { type Mail, WAKING_MAIL } from '../../records/conversation/mail.ts';
import { type EndWord, endWord } from '../../records/run/outcome.ts';
import type { EventOf } from '../transition/event.ts';
import type { View } from './view.ts';

export interface EndedTurn {
  /** Seq of its newest message. */
  readonly seq: number;
  /** Text of its last answer, with the limit that ended it, or why the turn stopped. */
  readonly text: string;
  /** The failure or the limit that ended it. */
  readonly cause: string | null;
  /** The outcome, where it has a cause that is no failure. */
  readonly outcome?: EndWord;
  /** Set if a person interrupted it. */
  readonly stopped?: true;
  /** Whether the agent wrote to its parent in this turn. */
  readonly reported: boolean;
  /** What the agent really did in this turn (`deedsLine`). */
  readonly did?: string;
  readonly deeds: Deeds | undefined;
}

/** How the transition between these states ended the turn; null when it goes on. `reply`: the text of the turn's last answer. */
export function endOfTurn(
  before: AgentState,
  after: AgentState,
  answered: boolean,
  reply: string | null,
): Pick<EndedTurn, 'text' | 'cause' | 'outcome' | 'stopped' | 'deeds'> | null {
  const deeds = deedsOf(after);
  if (answered && after.type === 'idle') {
    const { limit } = after;
    return {
      text: allTexts(reply ?? '', limit === undefined ? '' : `(${limit})`),
      cause: limit ?? null,
      ...(limit !== undefined && { outcome: 'cut_short' as const }),
      deeds,
    };
  }
  if ('turn' in before && after.type === 'idle' && restAfterSummary(before) === null)
    return { text: '', cause: 'interrupted', outcome: 'stopped', stopped: true, deeds };
  // After a person's wait, the failure is that of an earlier turn.
  if (after.type !== 'errored' || before.type === 'errored' || before.type === 'waiting') return null;
  const { error, kind } = after.failure;
  return { text: `The turn stopped: ${error}`, cause: error, ...noFailure(kind), deeds };
}

/** The text of a turn's last answer, preceded by the cut answer that it continues; null when the turn goes on with calls, and for a refused answer. */
export function replyIn(answer: EventOf<'response'>, before: AgentState, after: AgentState): string | null {
  if (answer.calls.length > 0 && after.type !== 'idle') return null;
  // It would reach other models, whose providers refuse it, too.
  if (answer.content.finish === 'refused') return null;
  const unfinished = before.type === 'requesting' ? (before.turn.unfinished ?? '') : '';
  return unfinished + assistantText(answer.content);
}

/** The word for an end of this kind, if that is no failure. */
export function noFailure(kind: string): { readonly outcome?: EndWord } {
  const outcome = endWord(kind);
  return outcome === 'failed' ? {} : { outcome };
}

/**
 * Whether mail will wake the agent after its turn: mail that it has not read, or reports. A fork in the middle of a turn in which it has not written to its
 * parent reports at the end of it, and one that will be woken ends a turn later.
 */
export function isOwed(
  { id, noticed }: Agent,
  view: Pick<View, 'relatives' | 'hasMail'>,
  left: readonly Mail[] = [],
): boolean {
  if (left.some(({ kind, number }) => WAKING_MAIL.has(kind) && number > noticed)) return true;
  return view.relatives
    .children(id)
    .some((one) =>
      'turn' in one.state && restAfterSummary(one.state) === null
        ? !one.sent_this_turn
        : !isTerminal(one.state.type) && (view.hasMail(one) || isOwed(one, view)),
    );
}
