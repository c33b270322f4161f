import type { NeedAnswer } from '../../kernel/toolsets/toolset.ts';
import type { Input, LedAgent, Override } from '../../kernel/turn/led-agent.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { runTime } from '../../records/agent/agent.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { isWorking } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { parkedUntil } from '../../records/conversation/parked.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { SeenFiles } from '../../records/conversation/seen-files.ts';
import type { Stop } from '../runtime-clock.ts';
import { Inbox } from './inbox.ts';

/** One agent that this process leads: its committed state, and what runs for it here. Only the executor changes the state, after the commit. */
export interface Cell extends LedAgent {
  agent: Agent;
  prompt: Prompt;
  readonly seen: SeenFiles;
  /** Other holders of files that it was told of, by path and id. */
  readonly told: Set<string>;
  readonly inbox: Inbox;
  inputs: Input[];
  readonly overrides: Map<string, Override>;
  request: AbortController | null;
  said: string;
  /** Tool calls running in this process. */
  readonly calls: Map<string, AbortController>;
  readonly timers: Map<string, Stop>;
  wait_cursors: ReadonlyMap<string, number>;
  readonly looked_up: Set<string>;
  readonly surveyed: Set<string>;
  readonly answers: Map<string, NeedAnswer>;
  /** Ended, or led by another process: late outcomes are ignored. */
  gone: boolean;
}

export function newCell(agent: Agent, prompt: Prompt, inbox: readonly Mail[], seen: SeenFiles): Cell {
  return {
    agent,
    prompt,
    seen,
    told: new Set(),
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

/** Stops the agent's request and calls; its timers go on. */
export function stopWork(cell: Cell): void {
  cell.request?.abort();
  cell.request = null;
  for (const controller of cell.calls.values()) controller.abort();
  cell.calls.clear();
}

/** Stops everything that runs here for the agent. */
export function stopCell(cell: Cell): void {
  stopWork(cell);
  for (const stop of cell.timers.values()) stop();
  cell.timers.clear();
}

/** Forgets what was looked up for calls that are all settled: it may have changed by the next call. Answers go when their call is decided. */
export function forgetLookUps(cell: Cell): void {
  cell.looked_up.clear();
  cell.surveyed.clear();
}

/** By id, until when each working agent is parked, milliseconds since the epoch; null when an agent has mail, inputs or work that is not parked. */
export function parkedCells(
  cells: readonly Cell[],
  limits: Limits | undefined,
): ReadonlyMap<string, number> | null {
  const parked = new Map<string, number>();
  for (const { inputs, inbox, agent } of cells) {
    if (inputs.length > 0 || !inbox.isEmpty) return null;
    if (!isWorking(agent.state.type)) continue;
    const until = limits === undefined ? null : parkedUntil(agent.state, runTime(agent.config, limits));
    if (until === null) return null;
    parked.set(agent.id, until);
  }
  return parked;
}
