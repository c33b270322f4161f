import type { Agent } from '../core/agent.ts';
import type { AgentEvent } from '../core/event.ts';
import type { Mail } from '../core/mail.ts';
import type { Prompt } from '../core/prompt.ts';
import type { Call } from '../core/state.ts';
import type { RequestRecord } from '../core/step.ts';
import { storable } from '../core/text.ts';
import type { NeedAnswer } from '../toolsets/need.ts';
import type { RefusalCode } from '../toolsets/toolset.ts';
import { Inbox } from './inbox.ts';
import type { Stop } from './surroundings.ts';

/** Something that happened to an agent and waits to be folded into its next step. */
export type Input =
  | { readonly type: 'event'; readonly event: AgentEvent; readonly request?: RequestRecord }
  /** A call of a toolset: decided inside the step, because it changes the tree. */
  | { readonly type: 'toolset-call'; readonly call: Call };

/**
 * One agent that this process leads: the committed truth about it, and what runs for it here. Only the
 * executor writes to it, only after the ledger has acknowledged.
 */
export interface Cell {
  agent: Agent;
  prompt: Prompt;
  /** Pending mail, oldest first. */
  readonly inbox: Inbox;
  inputs: Input[];
  /** Calls that the ledger refused in a step, with what their model is told instead. */
  readonly overrides: Map<string, { readonly code: RefusalCode; readonly message: string }>;
  /** The model request in flight. */
  request: AbortController | null;
  /** What the request in flight has brought of its text. */
  said: string;
  /** Tool calls running in this process. */
  readonly calls: Map<string, AbortController>;
  readonly timers: Map<string, Stop>;
  /** Where the last look at a fan-in found an agent that still runs: the next look begins there. */
  readonly wait_cursors: Map<string, number>;
  /** Texts that were looked up in the ledger and are known now, or known to be nobody. */
  readonly looked_up: Set<string>;
  /** Ids of calls for which the ledger was asked for everybody of the tree. */
  readonly surveyed: Set<string>;
  /** What was found out for calls, by `needKey`, until the calls are decided. */
  readonly answers: Map<string, NeedAnswer>;
  /** Ended, or led by another process: nothing it still brings counts. */
  gone: boolean;
}

export function newCell(agent: Agent, prompt: Prompt, inbox: readonly Mail[]): Cell {
  return {
    agent,
    prompt,
    inbox: new Inbox(inbox),
    inputs: [],
    overrides: new Map(),
    request: null,
    said: '',
    calls: new Map(),
    timers: new Map(),
    wait_cursors: new Map(),
    looked_up: new Set(),
    surveyed: new Set(),
    answers: new Map(),
    gone: false,
  };
}

/** Stops its request and its calls; timers go on. */
export function stopWork(cell: Cell): void {
  cell.request?.abort();
  cell.request = null;
  for (const controller of cell.calls.values()) controller.abort();
  cell.calls.clear();
}

/** What the request in flight has brought of its text, for an event that may stop it. */
export function saidSoFar({ agent, request, said }: Cell): { said?: { model: string; text: string } } {
  if (request === null || said.trim() === '') return {};
  return { said: { model: agent.config.model, text: storable(said) } };
}

/** Stops whatever runs here for the agent. */
export function stopCell(cell: Cell): void {
  stopWork(cell);
  for (const stop of cell.timers.values()) stop();
  cell.timers.clear();
  cell.wait_cursors.clear();
}

/** No call is open any more: what was looked up for them may be different for the next. Answers go when their call is decided. */
export function forgetLookUps(cell: Cell): void {
  cell.looked_up.clear();
  cell.surveyed.clear();
}
