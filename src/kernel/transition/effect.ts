import type { PermissionMode, Thinking } from '../../records/agent/agent.ts';
import type { Call, ChildOutcome } from '../../records/agent/state.ts';
import type { NewAsk } from '../../records/conversation/ask.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { Message } from '../../records/conversation/message.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import type { WorkflowPause } from '../../records/workflow/workflow-terms.ts';

export interface ProgramAnswer {
  readonly verdict: 'allow' | 'deny';
  readonly note: string;
  readonly by: string;
  /** The question was dismissed without a decision. */
  readonly dismissed?: boolean;
}

/**
 * What a transition asks for, as data. The first group is written in the transaction of the step; the second is
 * performed by the lease holder after the commit and can be derived from the state alone, so that a successor
 * can repeat it (docs/decisions/0003-effects-follow-from-the-state.md).
 */
export type Effect =
  | { readonly type: 'append'; readonly message: Message }
  | { readonly type: 'create-agents'; readonly agents: readonly NewAgent[] }
  | { readonly type: 'deliver-mail'; readonly mail: NewMail }
  /** The mail becomes part of the next message that the same step appends. */
  | { readonly type: 'consume-mail'; readonly mail_ids: readonly string[] }
  | { readonly type: 'kill-agents'; readonly agent_ids: readonly string[] }
  /** Tells people, in the conversation and on the channels of the run. `cause`: what makes it one delivery for each channel. */
  | {
      readonly type: 'tell-people';
      readonly cause: string;
      readonly targets: readonly string[];
      readonly text: string;
    }
  /** Asks a person for approval; the answer arrives as mail. */
  | { readonly type: 'enter-ask'; readonly ask: NewAsk }
  /** Withdraws approvals that are no longer needed. */
  | { readonly type: 'void-asks'; readonly ask_ids: readonly string[] }
  /** Switches the model of the agent and of agents that it creates later. */
  | { readonly type: 'set-model'; readonly model: string; readonly thinking?: Thinking | undefined }
  /** Gives the agent the toolset `workflow`. */
  | { readonly type: 'add-workflows' }
  /** Switches the mode of the tree, which its root keeps. */
  | { readonly type: 'set-mode'; readonly mode: PermissionMode }
  /** Pauses the workflow run for itself and all below it; null: it goes on. */
  | { readonly type: 'set-paused'; readonly paused: WorkflowPause | null }
  /** Sends this outcome to the parent's mailbox. */
  | { readonly type: 'notify-parent'; readonly outcome: ChildOutcome }
  /** Asks children to stop; each reports its outcome. */
  | { readonly type: 'cancel-agents'; readonly agent_ids: readonly string[]; readonly reason: string }
  // performed after the commit
  /** `insists`: a person wants it to be tried now, although the provider takes no requests. */
  | { readonly type: 'request-model'; readonly attempt: number; readonly insists?: true }
  | { readonly type: 'run-call'; readonly call: Call }
  /** Passes the answer to the agent program or tool that asked. A successor does not: it repeats the request or call, or reports the call as interrupted. */
  | ({ readonly type: 'answer-program'; readonly ask_id: string } & ProgramAnswer)
  /** Ends a wait at this time, milliseconds since the epoch. */
  | { readonly type: 'start-timer'; readonly call_id: string; readonly at: number }
  /** Tries a paused request again at its time. */
  | { readonly type: 'await-provider'; readonly at: number | null }
  /** Stops the agent's request and calls in this process. */
  | { readonly type: 'abort' };
