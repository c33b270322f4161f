import type { RequestRecord, Step } from '../../kernel/step.ts';
import type { NeedAnswer } from '../../kernel/toolsets/toolset.ts';
import type { ProgramAnswer } from '../../kernel/transition/effect.ts';
import { agentAfter } from '../../kernel/turn/agent-after.ts';
import type { Input, LedAgent, Override } from '../../kernel/turn/led-agent.ts';
import { type Agent, runTime } from '../../records/agent/agent.ts';
import type { Pause } from '../../records/agent/failure.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { isWorking } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { abovePaused, parkedUntil } from '../../records/conversation/parked.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { InheritedFiles, SeenFiles } from '../../records/conversation/seen-files.ts';
import type { SharedPrefix } from '../../records/conversation/shared-prefix.ts';
import type { Stop } from '../runtime-clock.ts';
import { Inbox } from './inbox.ts';
import type { Flight } from './requests-in-flight.ts';

export type Asked = Pick<RequestRecord, 'model' | 'usage'>;

/** What an agent inherits with a conversation. */
export interface ForkPoint {
  readonly prompt: SharedPrefix;
  readonly seen: InheritedFiles;
  readonly asked: Cell['asked'];
}

/** Stops a call; `printed` returns its output so far. */
export class RunningTool extends AbortController {
  printed = (): string => '';
}

/** One agent that this process leads: its committed state, and what runs for it here. Only the executor changes the state, after the commit. */
export interface Cell extends LedAgent {
  agent: Agent;
  prompt: Prompt;
  readonly seen: SeenFiles;
  /** Other agents and the files that they use, of which it was told: `AGENT_ID PATH`. */
  readonly told: Set<string>;
  readonly inbox: Inbox;
  inputs: Input[];
  readonly overrides: Map<string, Override>;
  request: AbortController | null;
  said: string;
  /** The request in flight, as budgets count it; kept until the ledger has its answer. */
  flight: Flight | null;
  /** The pause that is about to be tried; until the request is sent. */
  reopened?: Pause | null;
  /** The newest answered request; for a fork, at first that of its parent. */
  asked?: Asked | undefined;
  /** Whether its model is free, and the limits of its tree the default ones, which then do not bind it. */
  is_free?: boolean;
  /** The model that answered last in place of its own. */
  stand_in?: string | undefined;
  /** Whether the newest answer exceeded a budget: it was the last one, unless the budget has grown. */
  overspent: boolean;
  /** Whether the agent was told that little of a budget is left. */
  warned: boolean;
  /** Tool calls running in this process. */
  readonly calls: Map<string, RunningTool>;
  /** Callbacks for a person's answer to an agent program or a tool, by id of the question; called with null if it was withdrawn. */
  readonly questions: Map<string, (answer: ProgramAnswer | null) => void>;
  readonly timers: Map<string, Stop>;
  wait_cursors: ReadonlyMap<string, number>;
  readonly looked_up: Set<string>;
  readonly surveyed: Set<string>;
  readonly answers: Map<string, NeedAnswer>;
  /** Whether the agent has ended or is led by another process: late outcomes are ignored. */
  gone: boolean;
}

export function newCell(
  agent: Agent,
  prompt: Prompt,
  inbox: readonly Mail[],
  seen: SeenFiles,
  warned = false,
): Cell {
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
    flight: null,
    overspent: false,
    warned,
    calls: new Map(),
    questions: new Map(),
    timers: new Map(),
    wait_cursors: new Map(),
    looked_up: new Set(),
    surveyed: new Set(),
    answers: new Map(),
    gone: false,
  };
}

/** Stops the agent's request and calls; its timers continue. */
export function stopWork(cell: Cell): void {
  cell.request?.abort();
  cell.request = null;
  withdrawQuestions(cell);
  cell.flight?.end();
  for (const controller of cell.calls.values()) controller.abort();
  cell.calls.clear();
}

/** Withdraws all open questions of the agent's program and tools. */
export function withdrawQuestions(cell: Cell): void {
  for (const answer of cell.questions.values()) answer(null);
  cell.questions.clear();
}

/** Stops everything that runs here for the agent. */
export function stopCell(cell: Cell): void {
  stopWork(cell);
  for (const stop of cell.timers.values()) stop();
  cell.timers.clear();
}

/** Applies a committed step to the cell. */
export function stepTaken(cell: Cell, step: Step, consumed: ReadonlySet<string>): void {
  cell.agent = agentAfter(cell.agent, step);
  cell.inbox.remove(consumed);
  cell.overrides.clear();
  if (step.requests.length > 0) cell.flight?.end();
  if (cell.agent.state.type === 'executing') return;
  // All calls are settled, and look-ups may be stale by the next call. `answers` are removed when their call is decided.
  cell.looked_up.clear();
  cell.surveyed.clear();
}

/** Returns, by id, until when each working agent is parked, milliseconds since the epoch; null if an agent has mail, inputs or work that is not parked. */
export function parkedCells(
  cells: readonly Cell[],
  limits: Limits | undefined,
): ReadonlyMap<string, number> | null {
  const parked = new Map<string, number>();
  const above = abovePaused(cells.map(({ agent }) => agent));
  for (const { inputs, inbox, request, agent } of cells) {
    if (inputs.length > 0 || !inbox.isEmpty || request !== null) return null;
    if (!isWorking(agent.state.type)) continue;
    const begun = 'turn' in agent.state ? agent.state.turn.started_at : agent.updated_at;
    // The clock stands still for those that wait for a paused agent, too.
    const run_ms =
      limits && (above.has(agent.id) ? Number.POSITIVE_INFINITY : runTime(agent.config, limits, begun));
    const until = run_ms === undefined ? null : parkedUntil(agent.state, run_ms);
    if (until === null || until === undefined) return null;
    parked.set(agent.id, until);
  }
  return parked;
}
