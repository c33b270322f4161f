import type { RequestRecord } from '../../kernel/step.ts';
import type { Mail } from '../../records/conversation/mail.ts';

/** Mail without its text. */
export type Letter = Omit<Mail, 'body'>;

/**
 * `request`: the model. `waiting`: for other agents. `approval`: for a person. `queued`: there is work, and nobody does it yet. `idle`: nothing to do.
 */
export const SPAN_KINDS = ['request', 'tool', 'waiting', 'approval', 'queued', 'idle'] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** `open`: it goes on. `timeout`: a wait that ended with what had arrived. */
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

/** What an agent did for a while. */
export interface Span {
  readonly kind: SpanKind;
  /** The model, or the tool; empty otherwise. */
  readonly name: string;
  readonly status: SpanStatus;
  /** Milliseconds since the epoch; `end` null: it goes on. */
  readonly start: number;
  readonly end: number | null;
  /** The assistant message that it brought, or whose call it is; of others, the message that ended it. */
  readonly seq: number | null;
  readonly call_id: string | null;
  /** Tokens and cost of a request that was answered. */
  readonly request: RequestRecord | null;
  /** The agents that it waited for; of `idle`, those whose mail ended it. */
  readonly from: readonly Awaited[];
}

export interface Awaited {
  readonly agent_id: string;
  /** When the mail was sent that the wait or the rest brought; null: there was none of this agent. */
  readonly sent_at: number | null;
}

/** From when an agent had something to do until it rested. */
export interface TurnSpan {
  readonly start: number;
  readonly end: number | null;
  /** The message that began it. */
  readonly seq: number;
}

/** Between two steps of an agent the runtime itself needs a moment; only longer gaps become spans. */
export const GAP_MS = 100;
