import { RESTING } from '../../records/agent/state.ts';
import { WAKING_MAIL } from '../../records/conversation/mail.ts';

/** SQL: the words of a list. */
export function quoted(words: Iterable<string>): string {
  return [...words].map((word) => `'${word}'`).join(', ');
}

/** SQL, on either database: mail wakes this agent that it was not told of (`Agent.unread`). `agent` is the name that the statement gives the table. */
export function hasUnread(agent: string): string {
  return `EXISTS (SELECT 1 FROM mail news WHERE news.to_id = ${agent}.id AND news.consumed_seq IS NULL
    AND news.kind IN (${quoted(WAKING_MAIL)}) AND news.number > ${agent}.noticed)`;
}

/** SQL, on either database: it lives, does nothing and is not about to: it holds no place among those that a limit counts (law 7). */
export function isAtRest(agent: string): string {
  return `${agent}.status IN (${quoted(RESTING)}) AND NOT ${hasUnread(agent)}`;
}
