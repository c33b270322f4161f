import type { Agent, AgentConfig } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { AskAnswer } from '../records/conversation/ask.ts';
import type { Failure } from '../records/conversation/failure.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type { CaptureContent, Image } from '../records/conversation/message.ts';
import type { RuntimeEvent } from './runtime-event.ts';

export interface StartOptions {
  readonly prompt: string;
  /** Default `main`. */
  readonly name?: string;
  readonly images?: readonly Image[];
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
}

/** A root agent that rests until it is written to; its tree is served (`Store.createRoot`). */
export interface RestOptions {
  readonly name: string;
  readonly session_key: string;
  readonly config: AgentConfig;
  readonly limits?: Partial<Limits>;
}

/** How a letter from outside is known. */
export interface SendOptions {
  /** One that is there already is not sent again; default a new one. */
  readonly id?: string;
  /** Who wrote it, for people; default `you`. */
  readonly from?: string;
}

/** How a tree stands when nothing of it is at work any more. */
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
  /** Agents this process leads now. */
  readonly agents: readonly Agent[];
  /** Agents that another living process leads; they go on there. */
  readonly elsewhere: number;
  /** Agents that could not be restored, and why; the others go on. */
  readonly broken: readonly { readonly agent: Agent; readonly reason: string }[];
}

export interface ResumeOptions {
  /** Also restarts agents whose turn failed. */
  readonly retry?: boolean;
  /**
   * Also restarts agents whose provider refused their conversation (or, when there is none, all whose turn failed), without the message that was
   * refused (the newest that their model saw, where none is named). It is kept for people, and is not sent to a model again: neither theirs nor that of forks made from then on.
   */
  readonly without_last?: boolean;
  /**
   * Another model for every agent taken over that has the root's: they ask it from now on, and those whose turn failed are restarted. Agents with a model of
   * their own keep it. Rejects with what `start` would reject with when there is no such model.
   */
  readonly model?: string;
  /**
   * Other limits for the tree from now on; those not named stay. Agents that the tree's limit on tokens or cost had stopped are restarted. What another
   * process leads hears of them when it next looks at the tree.
   */
  readonly limits?: Partial<Limits>;
  /** No person said to go on: deaths of processes are counted, and an agent whose calls kill them is quarantined (docs/decisions/0010). */
  readonly unattended?: boolean;
}

/**
 * The public face of the runtime, the only thing that doors see of it. Methods reject with a `CoppiceError`
 * (stable `code`, `hint`); nothing that a caller does can lose what is in the ledger.
 */
export interface RuntimeFace {
  /** By which the ledger knows this process. */
  readonly worker_id: string;
  start(options: StartOptions): Promise<Agent>;
  /** A tree that whoever serves leads, here or elsewhere; `placement` are labels that it must have. Resolves to the id of its root. */
  enter(options: StartOptions, placement: readonly string[]): Promise<string>;
  begin(options: RestOptions): Promise<Agent>;
  /** The configuration with its folder made canonical; rejects with what `start` would reject with: a tool, folder or model that is not there. */
  checked(config: AgentConfig, limits?: Partial<Limits>): Promise<AgentConfig>;
  /** Gives up a tree in which nothing is to be done and forgets it; false when something is. `resume` takes it back. */
  release(root_id: string): Promise<boolean>;
  /** Takes over every agent of the tree that nobody leads, and goes on. */
  resume(root_id: string, options?: ResumeOptions): Promise<ResumeReport>;
  /** A letter from the human. It wakes an idle agent and joins a running turn before its next model request. */
  send(to_id: string, text: string, as?: SendOptions): Promise<Mail>;
  /** The agent and its living descendants. */
  kill(agent_id: string): Promise<readonly string[]>;
  /** A person's fork: with a prompt it begins, without it rests (seed 1); `captured`: the capture ends with it. Resolves when the child is there; rejects with `E_REFUSED`. */
  fork(agent_id: string, name: string, prompt: string | null, captured?: boolean): Promise<Agent>;
  /** Text that is kept and shown with the conversation, and never sent to a model; `mark` begins or ends the capture. */
  capture(agent_id: string, text: string, mark?: CaptureContent['mark']): Promise<void>;
  /** A person's wait: the agent is occupied until it ends; its result is a `waited` event in the scrollback. */
  wait(agent_id: string, timeout_ms: number, from: readonly string[] | null): Promise<void>;
  /** Answers what was asked before a call; rejects with `E_ASK_ANSWERED`. */
  answer(ask_id: string, answer: Omit<AskAnswer, 'by' | 'at'> & { readonly by?: string }): Promise<void>;
  /** Asks an agent's model again after its turn failed; `without_last` as in `ResumeOptions`. Of any other agent it means nothing. */
  retry(agent_id: string, without_last?: boolean): Promise<void>;
  /** Stops the turn of this one agent; its children go on. */
  interrupt(agent_id: string, reason: string): Promise<void>;
  /** Resolves when nothing of the tree is at work and no mail waits for a living agent; with `root`, when the root's turn has ended. */
  settled(root_id: string, until?: 'tree' | 'root'): Promise<TreeOutcome>;
  /** The agents of a tree as this process knows them. */
  agents(root_id: string): Promise<readonly Agent[]>;
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Stops claiming, lets commits finish, ends processes, releases leases. Nothing is lost; `resume` goes on. */
  close(): Promise<void>;
}
