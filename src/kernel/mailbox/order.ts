import type { PermissionMode } from '../../records/agent/agent.ts';
import type { CaptureContent } from '../../records/conversation/message.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';

/** An order to an agent from a person, or from its parent (`cancel`); mail of kind `control` carries it to the process that leads the agent. */
export type Order =
  | { readonly type: 'cancel'; readonly reason: string }
  /** Asks the model again after a failure; `without_last` leaves out the refused message, by default the newest that the model saw. */
  | { readonly type: 'retry'; readonly without_last?: boolean }
  /** The answer to an ask. */
  | {
      readonly type: 'answer';
      readonly ask_id: string;
      readonly verdict: 'allow' | 'deny';
      readonly note: string;
      /** The rule that the answer grants holds until the turn ends. */
      readonly turn?: boolean;
      /** The question was dismissed without a decision. */
      readonly dismissed?: boolean;
    }
  | ({ readonly type: 'capture' } & CaptureContent)
  /** `id`: the id of the child. `prompt`: null for a child that starts idle. `captured`: the prompt is the captured text, and the capture ends. */
  | {
      readonly type: 'fork';
      readonly id: string;
      readonly name: string;
      readonly prompt: string | null;
      readonly captured?: boolean;
    }
  /** A program creates a child, as the agent's own call of this tool would. `id`: of the child; `schema`: of its result, for a fork. */
  | {
      readonly type: 'create';
      readonly id: string;
      readonly tool: 'fork' | 'subagent_spawn';
      readonly input: Readonly<Record<string, unknown>>;
      readonly schema?: Readonly<Record<string, unknown>>;
    }
  /** Starts a workflow as a child. `id`: of the child; `run_id`: of its row in the run history. */
  | {
      readonly type: 'workflow';
      readonly id: string;
      readonly run_id: string;
      readonly workflow: WorkflowTerms;
      /** Name of the agent that starts it. */
      readonly by: string;
    }
  /** To a workflow run: it and all below it make no further requests. From the run to those below it, with `stops`: what is under way is broken off. */
  | { readonly type: 'pause'; readonly stops: boolean }
  /** To a paused workflow run, which passes it on to all below it: they go on. */
  | { readonly type: 'go-on' }
  /** Switches the model from the next request on. */
  | { readonly type: 'model'; readonly model: string }
  /** Switches the tool `workflow` on. */
  | { readonly type: 'workflows' }
  /** Summarises the older part of the conversation; `note`: what is to be kept. */
  | { readonly type: 'compact'; readonly note: string }
  /** To a root: switches the mode of its tree. */
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  /** `/wait` (docs/tui.md). `from`: ids of agents, or null for the next message from anyone. */
  | { readonly type: 'wait'; readonly timeout_ms: number; readonly from: readonly string[] | null };
