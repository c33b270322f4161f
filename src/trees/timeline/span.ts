import type { RequestRecord } from '../../kernel/step.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { cutText } from '../../records/text/cut-text.ts';

/** Mail without its text. */
export type Letter = Omit<Mail, 'body'>;

/**
 * `request`: a model request. `waiting`: waits for other agents. `approval`: waits for a person. `queued`: has work that has not begun. `idle`: has no work.
 */
export const SPAN_KINDS = ['request', 'tool', 'waiting', 'approval', 'queued', 'idle'] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** `open`: has not ended. `timeout`: a wait that ended with partial results. */
export const SPAN_STATUSES = [
  'open',
  'ok',
  'error',
  'denied',
  'interrupted',
  'cancelled',
  'timeout',
] as const;
export type SpanStatus = (typeof SPAN_STATUSES)[number];

/** One activity of an agent, with its start and end. */
export interface Span {
  readonly kind: SpanKind;
  /** Model or tool; otherwise empty. */
  readonly name: string;
  /** First words of an answer, or what a call was about: its first text; otherwise empty. */
  readonly said: string;
  readonly status: SpanStatus;
  /** Milliseconds since the epoch; `end` is null while the span is open. */
  readonly start: number;
  readonly end: number | null;
  /** Assistant message that a request led to or that holds the call; for other spans, the message that ended them. */
  readonly seq: number | null;
  readonly call_id: string | null;
  /** Record of the model request, with its tokens and cost. */
  readonly request: RequestRecord | null;
  /** Agents that a wait is for; for `idle`, those whose mail ended it. */
  readonly from: readonly Awaited[];
}

export interface Awaited {
  readonly agent_id: string;
  /** Time at which the mail that ended the wait or rest was sent; null if this agent sent none. */
  readonly sent_at: number | null;
}

/** Period from when an agent got something to do until it came to rest. */
export interface TurnSpan {
  readonly start: number;
  readonly end: number | null;
  /** Message that began the turn. */
  readonly seq: number;
}

const SAID_MAX = 48;

/** The beginning of a text, on one line. */
export function saidIn(text: string): string {
  return cutText(
    text
      .slice(0, 4 * SAID_MAX)
      .trim()
      .replaceAll(/\s+/g, ' '),
    SAID_MAX,
    '…',
  );
}

/** Minimum length of a gap that becomes a span; the runtime itself takes some time between two steps of an agent. */
export const GAP_MS = 100;
