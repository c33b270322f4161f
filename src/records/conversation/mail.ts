import type { Completion } from './facts/completion.ts';
import type { Attached } from './facts/message-facts.ts';
import type { Image } from './message.ts';

/**
 * Everything addressed to an agent stays in its mailbox until the transaction that adds it to the conversation
 * (law 6, docs/ledger.md). `letter`: text from an agent or a person. `report`: the end of a fork's turn in which it wrote nothing to its
 * parent, as a `Completion`. `outcome`: the end of a child that its parent awaits. `announce`: the end of a background run. `task`: the task of
 * a queued run, addressed to its own agent. `control`: a person's interrupt or retry. `event`: a system notification to the session, such as a timer.
 */
export type MailKind = 'letter' | 'report' | 'outcome' | 'announce' | 'task' | 'control' | 'event';

/** Kinds with text for the model: such mail wakes a resting agent. */
export const WAKING_MAIL: ReadonlySet<MailKind> = new Set(['letter', 'report', 'announce', 'task', 'event']);

/** Whether it was written by somebody, or stands for what a child did not write. */
export function isLetter({ kind }: Pick<Mail, 'kind'>): boolean {
  return kind === 'letter' || kind === 'report';
}

export interface Mail {
  readonly id: string;
  readonly root_id: string;
  readonly to_id: string;
  /** Null: the human. */
  readonly from_id: string | null;
  readonly from_name: string;
  readonly kind: MailKind;
  /** The text of a letter, a task or an event; JSON for other kinds. */
  readonly body: string;
  /** Pictures of a letter. */
  readonly images?: readonly Image[];
  /** Summary of what the sender had actually done by then, for its parent (`deedsLine`). */
  readonly did?: string;
  /** Set if a person attached something to the letter. */
  readonly attached?: Attached;
  /** The report that a letter of an agent is. */
  readonly completion?: Completion;
  /** Sequence number per recipient, counted from 1; mail is read in this order. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly sent_at: number;
  /** Seq of the message that contains it; null while unread, `TAKEN_BACK` if its sender withdrew it unread. */
  readonly consumed_seq: number | null;
}

/** Marks mail that its sender withdrew; no message has this seq. */
export const TAKEN_BACK = 0;

export type NewMail = Omit<Mail, 'number' | 'consumed_seq'>;
