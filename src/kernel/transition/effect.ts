import type { NewAgent } from '../../records/agent/new-agent.ts';
import type { Call, ChildOutcome } from '../../records/agent/state.ts';
import type { NewAsk } from '../../records/conversation/ask.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { Message } from '../../records/conversation/message.ts';

/**
 * What a transition asks for, as data. The first group is written in the transaction of the transition itself;
 * the second is performed by the lease holder after that transaction is acknowledged, and follows from the
 * state alone, so that a successor can repeat it.
 */
export type Effect =
  | { readonly type: 'append'; readonly message: Message }
  | { readonly type: 'create-agents'; readonly agents: readonly NewAgent[] }
  | { readonly type: 'deliver-mail'; readonly mail: NewMail }
  /** The letters are carried by the next message of kind `user` or `result` of the same step. */
  | { readonly type: 'consume-mail'; readonly mail_ids: readonly string[] }
  | { readonly type: 'kill-agents'; readonly agent_ids: readonly string[] }
  /** A person is asked; the answer comes by mail. */
  | { readonly type: 'enter-ask'; readonly ask: NewAsk }
  /** Nobody needs to answer these any more. */
  | { readonly type: 'void-asks'; readonly ask_ids: readonly string[] }
  /** The agent asks this model from now on, and so do those that it creates. */
  | { readonly type: 'set-model'; readonly model: string }
  /** The parent's mailbox gets this outcome. */
  | { readonly type: 'notify-parent'; readonly outcome: ChildOutcome }
  /** Asks children to stop; each answers with its outcome. */
  | { readonly type: 'cancel-agents'; readonly agent_ids: readonly string[]; readonly reason: string }
  // performed after the commit
  | { readonly type: 'request-model'; readonly attempt: number }
  | { readonly type: 'run-call'; readonly call: Call }
  /** Wake the agent at this time (milliseconds since the epoch): a wait ends then. */
  | { readonly type: 'start-timer'; readonly call_id: string; readonly at: number }
  /** Stop whatever runs for this agent in this process: the request, every call. */
  | { readonly type: 'abort' };
