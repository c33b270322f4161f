import { WAKING_MAIL } from '../core/mail.ts';

const KINDS = [...WAKING_MAIL].map((kind) => `'${kind}'`).join(', ');

/** SQL, on either database: mail wakes this agent that it was not told of (`Agent.unread`). `agent` is the name that the statement gives the table. */
export function hasUnread(agent: string): string {
  return `EXISTS (SELECT 1 FROM mail news WHERE news.to_id = ${agent}.id AND news.consumed_seq IS NULL
    AND news.kind IN (${KINDS}) AND news.number > ${agent}.noticed)`;
}

/** SQL, on either database: it lives, does nothing and is not about to: it holds no place among those that a limit counts (law 7). */
export function isAtRest(agent: string): string {
  return `${agent}.status IN ('idle', 'errored') AND NOT ${hasUnread(agent)}`;
}
