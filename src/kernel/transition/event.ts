import type { PermissionMode, Thinking } from '../../records/agent/agent.ts';
import type { Deed } from '../../records/agent/deeds.ts';
import type { Failure, Pause } from '../../records/agent/failure.ts';
import type {
  Call,
  ChildOutcome,
  ChildResult,
  Held,
  SpawnedChild,
  WaitSpec,
} from '../../records/agent/state.ts';
import type { NewAsk } from '../../records/conversation/ask.ts';
import type { Checkpoint, Elision } from '../../records/conversation/checkpoint.ts';
import type { WaitResult } from '../../records/conversation/facts/wait-row.ts';
import type {
  AssistantContent,
  CaptureContent,
  ResultContent,
  UserContent,
} from '../../records/conversation/message.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import type { WorkflowPause } from '../../records/workflow/workflow-terms.ts';
import type { Effect, ProgramAnswer } from './effect.ts';

/** Everything that can happen to one agent. `at` is milliseconds since the epoch; the kernel reads no clock. */
export type AgentEvent = Happening & { readonly at: number };

type Happening =
  /** Text that starts a turn of a resting agent. */
  | { readonly type: 'input'; readonly content: UserContent }
  /** Text that joins a turn right before its next model request. */
  | { readonly type: 'steer'; readonly content: UserContent }
  /**
   * `seq`: position of the new message. `calls`: all call parts of `content`, in order. `submission`: ends a child that reports to its
   * parent instead of running calls; ignored for others. `refusal`: no call runs, and each gets this error. `announced`: the text
   * announces calls, and there are none. `unread`: it has marks of calls that nobody can read. `appendix`: added to the outcome if the
   * agent ends with this answer; `changed`: the files that git then reports as changed in its worktree.
   */
  | {
      readonly type: 'response';
      readonly seq: number;
      readonly content: AssistantContent;
      readonly calls: readonly Call[];
      readonly submission: ChildOutcome | null;
      readonly refusal?: string;
      readonly announced?: true;
      readonly unread?: true;
      readonly appendix?: string;
      readonly changed?: readonly string[];
    }
  | {
      readonly type: 'request-failed';
      readonly failure: Failure;
      readonly partial?: string;
      readonly appendix?: string;
      readonly changed?: readonly string[];
    }
  /** A call settled. `consequences` are written in the same transaction; `spawned` are added to the children to await. `deed`: its effects on the world. */
  | {
      readonly type: 'call-settled';
      readonly result: ResultContent;
      readonly deed?: Deed;
      readonly consequences?: readonly Consequence[];
      readonly spawned?: readonly SpawnedChild[];
    }
  /** A `wait` call is parked in the ledger. */
  | { readonly type: 'call-parked'; readonly call_id: string; readonly wait: WaitSpec }
  /** A call is parked until the outcome of a child arrives; `consequences` create the child. */
  | {
      readonly type: 'call-delegated';
      readonly call_id: string;
      readonly child: string;
      readonly consequences: readonly Consequence[];
    }
  /** A call needs a person's approval before it runs, or asks a question while it runs; or an agent program asks during the request in flight. */
  | { readonly type: 'call-asked'; readonly ask: NewAsk }
  /** `turn`: the answer grants a rule until the turn ends. */
  | ({ readonly type: 'ask-answered'; readonly ask_id: string; readonly turn?: boolean } & ProgramAnswer)
  /** A running call no longer waits for the answer to its question. */
  | { readonly type: 'question-withdrawn'; readonly ask_id: string }
  /** Text of a person that is stored with the conversation and never sent to a model (capture mode). */
  | { readonly type: 'capture'; readonly content: CaptureContent }
  /** A person forks the agent; `text` is the event shown to people. */
  | { readonly type: 'branch'; readonly agents: readonly NewAgent[]; readonly text: string }
  /** A person starts to wait for mail to this agent; `wait-ended` ends it. */
  | { readonly type: 'human-wait'; readonly wait: WaitSpec }
  | { readonly type: 'wait-ended'; readonly output: string; readonly waited: WaitResult }
  | { readonly type: 'child-result'; readonly child: ChildResult }
  /**
   * A person or the parent stops the turn. `open`: results of open calls that have one; the others are cancelled. `said`: text of the interrupted request
   * so far.
   */
  | {
      readonly type: 'cancel';
      readonly by: string;
      readonly reason: string;
      readonly open: readonly ResultContent[];
      readonly said?: { readonly model: string; readonly text: string };
    }
  /** The ledger has killed the agent and its descendants and notified a waiting parent (law 9); only running work is left to stop. */
  | { readonly type: 'kill'; readonly by: string }
  /** A person switched the mode of the tree of this root. */
  | { readonly type: 'workflows' }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  /** A person chose another model, or how much it thinks. */
  | { readonly type: 'model'; readonly model: string; readonly thinking?: Thinking }
  /**
   * A person retries a failed turn. `said`: text of an answer that was cut off. `half`: the newest message that the model sees is its own answer.
   * `left_out`: retry without a message, described for people by `what`: the one followed by `behind` others, or the newest. `asks`: false if nothing is left
   * for the model to answer.
   */
  | {
      readonly type: 'retry';
      readonly said?: string;
      readonly half?: true;
      readonly left_out?: { readonly what: string; readonly asks: boolean; readonly behind?: number };
    }
  /**
   * The run time is nearly over: the rest is reserved for a last answer. `final`: it is over and the turn ends. `limit` names the limit; `said` as for
   * `cancel`.
   */
  | {
      readonly type: 'limit';
      readonly limit: string;
      readonly final: boolean;
      readonly said?: { readonly model: string; readonly text: string };
    }
  /** The request in flight waits before it is sent; null: no longer. `taken`: its provider, which took none, takes it. */
  | { readonly type: 'held'; readonly held: Held | null; readonly taken?: true }
  /** The provider takes no requests: the request waits in the ledger. */
  | { readonly type: 'paused'; readonly pause: Pause }
  /** A paused request is tried: its time has come, a person wants it (`retry`), or its provider takes requests again (`open`). */
  | { readonly type: 'reopen'; readonly as?: 'retry' | 'open' }
  /** A person pauses the workflow run, or lets it go on (null). */
  | { readonly type: 'run-paused'; readonly paused: WorkflowPause | null }
  /** The run above has stopped: what is under way is broken off. */
  | { readonly type: 'halt' }
  /** The run above goes on. */
  | { readonly type: 'go-on' }
  /** Before a request: the prompt has no room left. Long results are shortened, or the model is asked for a summary. */
  | ({ readonly type: 'elide' } & Elision)
  | { readonly type: 'summarise' }
  /** A person asks for a checkpoint. */
  | { readonly type: 'compact'; readonly note: string }
  /** `checkpoint`: null if there was nothing to cut. */
  | { readonly type: 'summarised'; readonly checkpoint: Checkpoint | null }
  /** Before a request is sent: little of a budget is left and the model is told, or (`last`) enough for one answer at most, which the model is asked for. */
  | { readonly type: 'budget'; readonly text: string; readonly last: boolean }
  /** A limit is used up to half, or to 80 %: people are told. */
  | { readonly type: 'warn'; readonly text: string }
  /** The clock was set against the time in which the agent could work, or nobody led it: what is left of each duration stays (docs/guarantees.md). */
  | { readonly type: 'clock-moved'; readonly by_ms: number }
  /** Computing the agent's step threw: the turn ends. */
  | { readonly type: 'fault'; readonly failure: Failure }
  /**
   * The agent's process is gone and a successor continues from the ledger (law 12). `deaths`: how many processes have died while running a call of the
   * agent since it last rested. `forgiven`: a person resumed it.
   */
  | { readonly type: 'resume'; readonly deaths?: number; readonly forgiven?: boolean };

/** What a settled call may cause in addition to its result. */
export type Consequence = Extract<
  Effect,
  { readonly type: 'create-agents' | 'deliver-mail' | 'consume-mail' | 'kill-agents' | 'tell-people' }
>;

export type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: T }>;
