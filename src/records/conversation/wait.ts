import type { Agent } from '../agent/agent.ts';
import { isTerminal, isWorking, type WaitSpec } from '../agent/state.ts';
import type { Mail } from './mail.ts';

/** Seed 1: exactly four statuses. */
export type WaitStatus = 'received' | 'running' | 'idle' | 'dead';

export interface WaitRow {
  readonly agent_id: string;
  readonly name: string;
  readonly status: WaitStatus;
  /** The letter, for `received`. */
  readonly message?: string;
  /** Text of its last turn, for an `idle` agent that sent its parent nothing in it. */
  readonly last_reply?: string;
  /** Why its turn failed, for an `idle` agent whose turn did. */
  readonly error?: string;
  /** The limit that ended its turn: what it did is what it had by then. */
  readonly limit?: string;
}

export interface WaitView {
  readonly now: number;
  /** Pending letters of the waiter, oldest first. */
  readonly inbox: readonly Mail[];
  readonly agent: (id: string) => Agent | undefined;
  /** True when a letter from this agent is pending for the waiter. */
  readonly hasLetterFrom: (id: string) => boolean;
  /** True when mail wakes this agent: it is about to work on it, even if it rests at this moment. */
  readonly hasMail: (agent: Agent) => boolean;
}

/** The end of a wait: what the call returns, and the letters that this consumes (law 6). */
export interface WaitEnd {
  readonly output: string;
  readonly consume: readonly string[];
}

/** Why a wait ends although not everybody has answered. */
export type WaitCut = 'timeout' | 'interrupted';

/** Whether nothing is left to wait for from this agent: it wrote, idles, or is dead. */
export function isAnswered(id: string, view: WaitView): boolean {
  // The status is looked at first: mail that was sent before the turn ended is then surely seen.
  const agent = view.agent(id);
  const resting = agent === undefined || !atWork(agent, view);
  return view.hasLetterFrom(id) || resting;
}

/** It lives, does nothing, and is not about to. */
export function isAtRest(agent: Agent, view: WaitView): boolean {
  return !isTerminal(agent.state.type) && !atWork(agent, view);
}

/** A child that was created and has not begun its first turn has nothing to show yet: it runs. So does one with mail to read. */
function atWork(agent: Agent, view: WaitView): boolean {
  return isWorking(agent.state.type) || (!isTerminal(agent.state.type) && view.hasMail(agent));
}

/** Mode 1: the first letter from anyone; mode 2: every listed agent (seed 1, Wait Semantics). */
export function endWait(wait: WaitSpec, view: WaitView, cut: WaitCut | null): WaitEnd {
  return wait.from === null ? endNextMessage(view, cut) : endFanIn(wait.from, view, cut);
}

function endNextMessage(view: WaitView, cut: WaitCut | null): WaitEnd {
  const letter = view.inbox.find((mail) => mail.kind === 'letter');
  if (letter === undefined) return { output: JSON.stringify({ status: cut ?? 'timeout' }), consume: [] };
  const output = JSON.stringify({
    status: 'received',
    agent_id: letter.from_id ?? 'human',
    name: letter.from_name,
    message: letter.body,
    sent_at: new Date(letter.sent_at).toISOString(),
  });
  return { output, consume: [letter.id] };
}

function endFanIn(from: readonly string[], view: WaitView, cut: WaitCut | null): WaitEnd {
  const first = new Map<string, Mail>();
  for (const mail of view.inbox) {
    if (mail.kind === 'letter' && mail.from_id !== null && !first.has(mail.from_id))
      first.set(mail.from_id, mail);
  }
  const results = from.map((id) => row(id, view, first.get(id)));
  const consume = from.flatMap((id) => first.get(id)?.id ?? []);
  const mark = cut === null ? {} : cut === 'timeout' ? { timed_out: true } : { interrupted: true };
  return { output: JSON.stringify({ results, ...mark }), consume };
}

function row(id: string, view: WaitView, letter: Mail | undefined): WaitRow {
  const agent = view.agent(id);
  const name = agent?.name ?? id;
  if (letter !== undefined) return { agent_id: id, name, status: 'received', message: letter.body };
  if (agent === undefined || isTerminal(agent.state.type)) return { agent_id: id, name, status: 'dead' };
  if (atWork(agent, view)) return { agent_id: id, name, status: 'running' };
  return {
    agent_id: id,
    name,
    status: 'idle',
    ...(!agent.reply || agent.sent_this_turn ? {} : { last_reply: agent.reply }),
    ...(agent.state.type === 'errored' ? { error: agent.state.failure.error } : {}),
    ...(agent.state.type === 'idle' && agent.state.limit !== undefined ? { limit: agent.state.limit } : {}),
  };
}
