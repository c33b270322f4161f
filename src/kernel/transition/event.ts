import type { NewAgent } from '../../records/agent/new-agent.ts';
import type { Call, ChildOutcome, ChildResult, SpawnedChild, WaitSpec } from '../../records/agent/state.ts';
import type { NewAsk } from '../../records/conversation/ask.ts';
import type { Failure } from '../../records/conversation/failure.ts';
import type {
  AssistantContent,
  CaptureContent,
  ResultContent,
  UserContent,
} from '../../records/conversation/message.ts';
import type { Effect } from './effect.ts';

/** Everything that can happen to one agent. `at` is milliseconds since the epoch; the core reads no clock. */
export type AgentEvent =
  /** Text enters an agent that is not at work and starts a turn. */
  | { readonly type: 'input'; readonly at: number; readonly content: UserContent }
  /** A person's text joins a turn right before its next model request. */
  | { readonly type: 'steer'; readonly at: number; readonly content: UserContent }
  /**
   * `seq` is the place the message will take; `calls` are the call parts of `content`, all of them, in order. A `submission` ends
   * a child instead of running calls (seed 3); of an agent that does not report it means nothing. With a `refusal` no call is run:
   * each gets it as its error. An `appendix` joins the outcome of an agent that ends by it.
   */
  | {
      readonly type: 'response';
      readonly at: number;
      readonly seq: number;
      readonly content: AssistantContent;
      readonly calls: readonly Call[];
      readonly submission: ChildOutcome | null;
      readonly refusal?: string;
      readonly appendix?: string;
    }
  | {
      readonly type: 'request-failed';
      readonly at: number;
      readonly failure: Failure;
      readonly partial?: string;
      readonly appendix?: string;
    }
  /** One call has its result. `consequences` are performed in the same transaction; `spawned` joins the children to await. */
  | {
      readonly type: 'call-settled';
      readonly at: number;
      readonly result: ResultContent;
      readonly consequences: readonly Consequence[];
      readonly spawned: readonly SpawnedChild[];
    }
  /** A `wait` call is parked in the ledger. */
  | { readonly type: 'call-parked'; readonly at: number; readonly call_id: string; readonly wait: WaitSpec }
  /** A call waits in the ledger for the outcome of a child (seed 5); `consequences` create it. */
  | {
      readonly type: 'call-delegated';
      readonly at: number;
      readonly call_id: string;
      readonly child: string;
      readonly consequences: readonly Consequence[];
    }
  /** A person must allow the call before it runs. */
  | { readonly type: 'call-asked'; readonly at: number; readonly ask: NewAsk }
  | {
      readonly type: 'ask-answered';
      readonly at: number;
      readonly ask_id: string;
      readonly verdict: 'allow' | 'deny';
      readonly note: string;
      readonly by: string;
    }
  /** Text of a person that is kept with the conversation and never sent to a model (seed 1, Capture Mode). */
  | { readonly type: 'capture'; readonly at: number; readonly content: CaptureContent }
  /** A person forks the agent; `text` says so to people. */
  | {
      readonly type: 'branch';
      readonly at: number;
      readonly agents: readonly NewAgent[];
      readonly text: string;
    }
  /** A person waits for mail to this agent, and the end of that. */
  | { readonly type: 'human-wait'; readonly at: number; readonly wait: WaitSpec }
  | {
      readonly type: 'wait-ended';
      readonly at: number;
      readonly output: string;
      readonly mail_ids: readonly string[];
    }
  | { readonly type: 'child-result'; readonly at: number; readonly child: ChildResult }
  /**
   * A person or the parent stops the turn. `open` may carry what open calls have to show; the others are plainly cancelled. `said` is what a request
   * under way had brought of its text.
   */
  | {
      readonly type: 'cancel';
      readonly at: number;
      readonly by: string;
      readonly reason: string;
      readonly open: readonly ResultContent[];
      readonly said?: { readonly model: string; readonly text: string };
    }
  /** The ledger has ended the agent and all its descendants and told a parent that awaits it (law 9): only what runs is left to stop. */
  | { readonly type: 'kill'; readonly at: number; readonly by: string }
  /** A person chose another model. */
  | { readonly type: 'model'; readonly at: number; readonly model: string }
  /**
   * `said`: what an answer that was cut had come to. `half`: the newest message that the model sees is an answer of its own. `left_out`: without a message that the model saw, described for people: the one with so many `behind` it, or the newest; `asks` unless
   * nothing is left that asks for an answer.
   */
  | {
      readonly type: 'retry';
      readonly at: number;
      readonly said?: string;
      readonly half?: true;
      readonly left_out?: { readonly what: string; readonly asks: boolean; readonly behind?: number };
    }
  /**
   * The run time comes to its end while at work: what is left of it is for the last word. `final`: nothing is left, the turn ends here. `limit` says
   * which limit it is; `said` as with a cancel.
   */
  | {
      readonly type: 'limit';
      readonly at: number;
      readonly limit: string;
      readonly final: boolean;
      readonly said?: { readonly model: string; readonly text: string };
    }
  /** Something threw while the agent's step was made: whatever it was at ends with it. */
  | { readonly type: 'fault'; readonly at: number; readonly failure: Failure }
  /**
   * The process that ran the agent is gone; its successor goes on from the ledger (law 12). `deaths`: the ledger's count of processes that died
   * while a call of it ran, since it last rested; `forgiven` where a person said to go on.
   */
  | { readonly type: 'resume'; readonly at: number; readonly deaths?: number; readonly forgiven?: boolean };

/** What a settled call may bring about beside its result. */
export type Consequence = Extract<
  Effect,
  { readonly type: 'create-agents' | 'deliver-mail' | 'consume-mail' | 'kill-agents' }
>;

export type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: T }>;
