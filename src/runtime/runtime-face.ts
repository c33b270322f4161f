import type { Order } from '../kernel/mailbox/read-mail.ts';
import type { Model } from '../models/model.ts';
import type { Agent, AgentConfig, PermissionMode, Thinking } from '../records/agent/agent.ts';
import type { Failure } from '../records/agent/failure.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { AskAnswer } from '../records/conversation/ask.ts';
import type { Attached } from '../records/conversation/facts/message-facts.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { CaptureContent, Image } from '../records/conversation/message.ts';
import type { Outcome } from '../records/run/outcome.ts';
import type { ServerOffers } from '../records/server-offers.ts';
import type { ToolSpec } from '../records/tool.ts';
import type { RuntimeEvent } from './runtime-event.ts';

export interface StartOptions {
  /** Uuid of the root; default a new one. A root that is there already is left as it is. */
  readonly id?: string;
  readonly prompt: string;
  /** Default `main`. */
  readonly name?: string;
  readonly images?: readonly Image[];
  readonly attached?: Attached;
  /** The id that the prompt has as a letter, by which it is known when it comes again. */
  readonly letter?: string;
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
}

/** A root agent that is idle until it gets mail; its tree is served (`Store.createRoot`). */
export interface RestOptions {
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
  /** Labels that a server or worker needs to take it over. */
  readonly placement?: readonly string[];
}

/** Id, sender, images and attachments of a letter from outside the tree. */
export interface SendOptions {
  /** Id of the letter, which makes sending idempotent; default: a new one. */
  readonly id?: string;
  /** Name of the sender; default `you`. */
  readonly from?: string;
  readonly images?: readonly Image[];
  readonly attached?: Attached;
}

/** The state of a tree that has come to rest, or of an agent and those below it. */
export interface TreeOutcome extends Outcome {
  readonly root: Agent;
  /** Its last reply; empty if there is none. */
  readonly reply: string;
  /** Reason why it stopped, if it failed, was killed or was interrupted. */
  readonly failure: Failure | null;
  readonly agents: readonly Agent[];
}

export interface ResumeReport {
  readonly root: Agent;
  /** Agents that this process leads now. */
  readonly agents: readonly Agent[];
  /** Number of agents that another living process leads; they continue there. */
  readonly elsewhere: number;
  /** Agents that could not be restored, and why; the others continue. */
  readonly broken: readonly { readonly agent: Agent; readonly reason: string }[];
  /** Number of resting agents among `agents` that begin again. */
  readonly restarted: number;
  /** As they were: agents whose request was paused, and is made now. */
  readonly tried: readonly Agent[];
}

export interface ResumeOptions {
  /** Also restarts agents whose turn failed, or was cut short by a limit that has been raised since. */
  readonly retry?: boolean;
  /**
   * Also restarts agents whose provider refused their conversation (or, if there are none, all agents whose turn failed), without the refused message (by
   * default the newest that their model saw). The message stays visible to people, but is no longer sent to a model nor inherited by later forks.
   */
  readonly without_last?: boolean;
  /**
   * New model for every agent taken over that has the root's model; those whose turn failed are
   * restarted. Agents with another model keep it. Rejects as `start` does if the model is unknown.
   */
  readonly model?: string;
  /**
   * New limits for the tree; limits that are not given stay unchanged. Agents whose turn one of them ended go on, if it was raised. Other processes that
   * lead agents of the tree apply the new limits when they next read the tree.
   */
  readonly limits?: Partial<Limits>;
  /**
   * True if no person requested the take-over: then crashes are counted, and an agent whose
   * calls crash processes is quarantined (docs/decisions/0010-quarantine.md).
   */
  readonly unattended?: boolean;
}

/** What a person orders a workflow run to do. */
export type WorkflowSteer = 'pause' | 'stop' | 'resume';

/**
 * The public interface of the runtime, and all that doors see of it. Methods reject with a
 * `CoppiceError` (stable `code`, `hint`); no call can lose what is in the ledger.
 */
export interface RuntimeFace {
  /** The id under which the ledger knows this process. */
  readonly worker_id: string;
  /**
   * Whether this process certainly has its lease. False when the ledger has been silent for a while, and for some seconds after that, in which other processes
   * renew their leases: until then, what the ledger says of workers may be out of date.
   */
  holdsLease(): boolean;
  start(options: StartOptions): Promise<Agent>;
  /** Adds a served tree that any server or worker with all labels of `placement` may lead. Resolves to the id of its root. */
  enter(options: StartOptions, placement: readonly string[]): Promise<string>;
  /** Creates and leads a root that is idle until it gets mail. */
  begin(options: RestOptions): Promise<Agent>;
  /** Validates the configuration and resolves to it with a canonical folder; rejects as `start` does for an unknown tool, folder or model. */
  checked(config: AgentConfig, limits?: Partial<Limits>): Promise<AgentConfig>;
  /** Releases a tree in which nothing is left to do, or only parked work; false if there is more. `resume` takes it back. */
  release(root_id: string): Promise<boolean>;
  /** Takes over and continues every agent of the tree that no process leads. */
  resume(root_id: string, options?: ResumeOptions): Promise<ResumeReport>;
  /** Sends a letter from a person. It wakes an idle agent; a running turn gets it before its next model request. */
  send(to_id: string, text: string, as?: SendOptions): Promise<Mail>;
  /** Takes back a person's letter that a working agent has not read yet; false if it was read or the agent is at rest. */
  takeBack(agent_id: string, mail_id: string): Promise<boolean>;
  /** Kills the agent and its living descendants; resolves to their ids. `by`: who is told to have done so, default `you`. */
  kill(agent_id: string, by?: string): Promise<readonly string[]>;
  /**
   * Forks the agent for a person. The child begins with the prompt, or is idle without one. `captured`: the prompt is the captured text, and
   * the capture ends. `id`: of the child; makes forking idempotent. Resolves when the child exists; rejects with `E_REFUSED`.
   */
  fork(
    agent_id: string,
    name: string,
    prompt: string | null,
    captured?: boolean,
    id?: string,
  ): Promise<Agent>;
  /**
   * Creates a child for a program, as the agent's own call of the tool would, in whatever vocabulary; the model and the folder of `input` are known to be usable.
   * Idempotent by the id. Resolves and rejects as `fork`.
   */
  create(agent_id: string, order: Omit<Extract<Order, { type: 'create' }>, 'type'>): Promise<Agent>;
  /** Adds text that is shown with the conversation and never sent to a model; `mark` begins or ends the capture. */
  capture(agent_id: string, text: string, mark?: CaptureContent['mark']): Promise<void>;
  /** Makes the agent wait, as a person orders: it does nothing else until the wait ends; the result is a `waited` event in the scrollback. */
  wait(agent_id: string, timeout_ms: number, from: readonly string[] | null): Promise<void>;
  /** Answers an ask, and all open ones that the grant of the answer covers; rejects with `E_ASK_ANSWERED`, `E_INVALID_ARGUMENT` and `E_CONFIG`. */
  answer(ask_id: string, answer: Omit<AskAnswer, 'by' | 'at'> & { readonly by?: string }): Promise<void>;
  /** Pauses a workflow run with all below it (`stop`: what is under way is broken off), or lets it go on; a no-op if it is so already, or has ended. */
  steerWorkflow(run: string, how: WorkflowSteer): Promise<void>;
  /** Starts a workflow as a child of an agent that this process leads, which is told of its end. */
  startWorkflow(agent_id: string, order: Omit<Extract<Order, { type: 'workflow' }>, 'type'>): Promise<void>;
  /** Gives an agent the tool `workflow` from its next request on. */
  useWorkflows(agent_id: string): Promise<void>;
  /** Repeats the model request of an agent whose turn failed; no-op for others. `without_last` as in `ResumeOptions`. */
  retry(agent_id: string, without_last?: boolean): Promise<void>;
  /** Switches the model of this one agent permanently, from its next request on. Rejects as `start` does for an unknown model. */
  switchModel(agent_id: string, model: string, thinking?: Thinking): Promise<void>;
  /** Summarises the older part of the conversation before the next request, or at once if the agent rests; `note`: what to keep (docs/context.md). */
  compact(agent_id: string, note?: string): Promise<void>;
  /** What every request of an agent begins with: its system text, and the tools that this process knows for it (of MCP servers: of those that run). */
  sentFirst(agent_id: string): Promise<{ readonly system: string; readonly tools: readonly ToolSpec[] }>;
  /** What the MCP servers of an agent offer to people, or (`root_id` empty) those of one that is to be started; null if it has none. */
  offers(agent: Pick<Agent, 'root_id' | 'config'>): Promise<ServerOffers | null>;
  /** Switches the permission mode of a tree permanently, for all its agents, from their next call on. */
  switchMode(root_id: string, mode: PermissionMode): Promise<void>;
  /** Interrupts the turn of this one agent; its children continue. */
  interrupt(agent_id: string, reason: string): Promise<void>;
  /**
   * Resolves when neither the agent nor one below it works and no mail waits for a living one of them; with `root`, when the turn of the agent itself has
   * ended. Rejects with the reason of the signal once that is aborted.
   */
  settled(agent_id: string, until?: 'tree' | 'root', signal?: AbortSignal): Promise<TreeOutcome>;
  /** The agents of a tree as this process knows them. */
  agents(root_id: string): Promise<readonly Agent[]>;
  /** Models that this process has opened. */
  models(): Promise<readonly Pick<Model, 'id' | 'gate'>[]>;
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Waits for commits under way, ends processes, releases leases. Nothing is lost; `resume` continues the work. */
  close(): Promise<void>;
}
