/**
 * Everything addressed to an agent lies in its mailbox until the transaction that takes it into the
 * conversation (law 6). `letter`: text from an agent or the human. `outcome`: the end of a child that its
 * parent awaits. `announce`: a background run's end. `task`: what a queued run is to do, to its own agent. `control`: a
 * person's interrupt or retry. `event`: what the system tells the session, such as a timer.
 */
export type MailKind = 'letter' | 'outcome' | 'announce' | 'task' | 'control' | 'event';

/** Kinds that say something to the model: such mail wakes an agent that rests. */
export const WAKING_MAIL: ReadonlySet<MailKind> = new Set(['letter', 'announce', 'task', 'event']);

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
  /** Counts from 1 per recipient: first in, first out. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly sent_at: number;
  /** Seq of the message that carries it; null while pending. */
  readonly consumed_seq: number | null;
}

export type NewMail = Omit<Mail, 'number' | 'consumed_seq'>;
