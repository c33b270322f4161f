import type { Agent, AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { Failure } from '../records/agent/failure.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { AskAnswer } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { CaptureContent, Image } from '../records/conversation/message.ts';
import type { RuntimeEvent } from './runtime-event.ts';

export interface StartOptions {
  /** Uuid of the root; default a new one. */
  readonly id?: string;
  readonly prompt: string;
  /** Default `main`. */
  readonly name?: string;
  readonly images?: readonly Image[];
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
}

/** A root agent that is idle until it is written to; its tree is served (`Store.createRoot`). */
export interface RestOptions {
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
  /** Labels that a server or worker needs to take it over. */
  readonly placement?: readonly string[];
}

/** Id, sender and pictures of a letter from outside. */
export interface SendOptions {
  /** Makes sending idempotent; default a new id. */
  readonly id?: string;
  /** Who wrote it, for people; default `you`. */
  readonly from?: string;
  readonly images?: readonly Image[];
}

/** The state of a tree that has come to rest. */
export interface TreeOutcome {
  readonly root: Agent;
  /** The root's last reply; empty when there is none. */
  readonly reply: string;
  /** Why the root stopped, when it failed or was killed. */
  readonly failure: Failure | null;
  readonly agents: readonly Agent[];
}

export interface ResumeReport {
  readonly root: Agent;
  /** Agents that this process leads now. */
  readonly agents: readonly Agent[];
  /** Number of agents that another living process leads; they go on there. */
  readonly elsewhere: number;
  /** Agents that could not be restored, and why; the others go on. */
  readonly broken: readonly { readonly agent: Agent; readonly reason: string }[];
}

export interface ResumeOptions {
  /** Also restarts agents whose turn failed. */
  readonly retry?: boolean;
  /**
   * Also restarts agents whose provider refused their conversation (or, without any, all whose turn failed), leaving out the refused message (by default
   * the newest that their model saw). People still see it; no model gets it again, nor do forks made from then on.
   */
  readonly without_last?: boolean;
  /**
   * Another model for every agent taken over that has the root's model; those whose turn failed are restarted. Agents with a model of their own keep it.
   * For an unknown model, rejects as `start` does.
   */
  readonly model?: string;
  /**
   * New limits for the tree; those not named stay. Agents that the tree's limit on tokens or cost had stopped are restarted. Another process that leads
   * agents of the tree follows them when it next reads the tree.
   */
  readonly limits?: Partial<Limits>;
  /** No person asked for it: crashes are counted, and an agent whose calls crash processes is quarantined (docs/decisions/0010-quarantine.md). */
  readonly unattended?: boolean;
}

/**
 * The public interface of the runtime, all that doors see of it. Methods reject with a `CoppiceError` (stable `code`,
 * `hint`); no call can lose what is in the ledger.
 */
export interface RuntimeFace {
  /** The id under which the ledger knows this process. */
  readonly worker_id: string;
  start(options: StartOptions): Promise<Agent>;
  /** Adds a served tree that any server or worker with all labels of `placement` may lead. Resolves to the id of its root. */
  enter(options: StartOptions, placement: readonly string[]): Promise<string>;
  /** Leads a root that is idle until it is written to. */
  begin(options: RestOptions): Promise<Agent>;
  /** The configuration with a canonical folder; rejects as `start` does for an unknown tool, folder or model. */
  checked(config: AgentConfig, limits?: Partial<Limits>): Promise<AgentConfig>;
  /** Releases a tree in which nothing is left to do; false when something is. `resume` takes it back. */
  release(root_id: string): Promise<boolean>;
  /** Takes over every agent of the tree that nobody leads, and goes on. */
  resume(root_id: string, options?: ResumeOptions): Promise<ResumeReport>;
  /** A letter from a person. It wakes an idle agent, and joins a running turn before its next model request. */
  send(to_id: string, text: string, as?: SendOptions): Promise<Mail>;
  /** Takes back a letter of a person that the agent at work has not read; false: it has, or has come to rest. */
  takeBack(agent_id: string, mail_id: string): Promise<boolean>;
  /** Kills the agent and its living descendants; resolves to their ids. */
  kill(agent_id: string): Promise<readonly string[]>;
  /**
   * A person's fork: it begins with the prompt, or is idle without one; `captured` ends the capture; `id` is the child's, and makes forking idempotent.
   * Resolves when the child exists; rejects with `E_REFUSED`.
   */
  fork(
    agent_id: string,
    name: string,
    prompt: string | null,
    captured?: boolean,
    id?: string,
  ): Promise<Agent>;
  /** Adds text that is shown with the conversation and never sent to a model; `mark` begins or ends the capture. */
  capture(agent_id: string, text: string, mark?: CaptureContent['mark']): Promise<void>;
  /** A person's wait: the agent does nothing else until it ends; its result is a `waited` event in the scrollback. */
  wait(agent_id: string, timeout_ms: number, from: readonly string[] | null): Promise<void>;
  /** Answers an ask, and with what that grants the open ones that it covers; rejects with `E_ASK_ANSWERED`, `E_INVALID_ARGUMENT` and `E_CONFIG`. */
  answer(ask_id: string, answer: Omit<AskAnswer, 'by' | 'at'> & { readonly by?: string }): Promise<void>;
  /** Asks the model of an agent again whose turn failed; no effect on others. `without_last` as in `ResumeOptions`. */
  retry(agent_id: string, without_last?: boolean): Promise<void>;
  /** This one agent asks another model from its next request on, for good. Rejects as `start` does for an unknown model. */
  switchModel(agent_id: string, model: string): Promise<void>;
  /** Summarises the older part of its conversation before its next request, at once if it rests; `note`: what is to be kept (docs/context.md). */
  compact(agent_id: string, note?: string): Promise<void>;
  /** Switches the mode of a tree, for good: for all its agents, from their next call on. */
  switchMode(root_id: string, mode: PermissionMode): Promise<void>;
  /** Stops the turn of this one agent; its children go on. */
  interrupt(agent_id: string, reason: string): Promise<void>;
  /** Resolves when no agent of the tree works and no mail waits for a living one; with `root`, when the root's turn has ended. */
  settled(root_id: string, until?: 'tree' | 'root'): Promise<TreeOutcome>;
  /** The agents of a tree as this process knows them. */
  agents(root_id: string): Promise<readonly Agent[]>;
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Lets commits finish, ends processes, releases leases. Nothing is lost; `resume` goes on. */
  close(): Promise<void>;
}
