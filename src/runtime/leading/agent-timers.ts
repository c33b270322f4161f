import { saidSoFar } from '../../kernel/turn/led-agent.ts';
import { runTime } from '../../records/agent/agent.ts';
import { runDeadline } from '../../records/agent/limits.ts';
import { WARNED_SHARES } from '../../records/agent/spending.ts';
import { isWorking } from '../../records/agent/state.ts';
import { standsStill } from '../../records/conversation/parked.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock } from '../runtime-clock.ts';
import type { StoppedClocks } from './stopped-clocks.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;
const RUN = 'run';
/** Minimum run time of which people are warned. */
const WARNED_MS = 4_000;
const ASKING_POLL_MS = 5_000;
/** Interval at which a timer looks whether a step is over. */
const STEPPING_MS = 10;

/** Timers of agents: deadlines of waits, run times of turns. They are derived from the state, so a process that takes over sets them again. */
export class AgentTimers {
  readonly #executor: Executor;
  readonly #clock: RuntimeClock;

  readonly #clocks: StoppedClocks;

  constructor(executor: Executor, clock: RuntimeClock, clocks: StoppedClocks) {
    this.#executor = executor;
    this.#clock = clock;
    this.#clocks = clocks;
  }

  /** Wakes the agent at `at`, milliseconds since the epoch. A timer of the same `name` is replaced. */
  wakeAt(cell: Cell, name: string, at: number): void {
    this.#set(cell, name, at, () => this.#executor.wake(cell));
  }

  /** Calls `ring` at `at`, milliseconds since the epoch. A timer of the same `name` is replaced. */
  callAt(cell: Cell, name: string, at: number, ring: () => void): void {
    this.#set(cell, name, at, ring);
  }

  /** Requests the last answer shortly before the run time is over, and ends the turn when it is over. `later_ms`: by how much its next step moves the turn. */
  watch(cell: Cell, later_ms = 0): void {
    const { state, root_id, config } = cell.agent;
    const limits = this.#executor.agent_index.tree(root_id)?.limits;
    if (limits === undefined) return;
    if (!('turn' in state)) return;
    const { started_at } = state.turn;
    const run_ms = runTime(config, limits, started_at);
    const deadline = runDeadline(state, run_ms);
    if (deadline === null || !Number.isFinite(run_ms)) return;
    const ring = (final: boolean) => () => {
      const now = cell.agent.state;
      if (!isWorking(now.type)) return;
      // The run time is paused while a person is asked, or a provider takes no requests; the answer moves the start of the turn.
      const at = this.#clock.now();
      if (standsStill(now) || this.#clocks.isAbove(cell.agent, this.#executor))
        return this.#set(cell, RUN, at + ASKING_POLL_MS, () => this.watch(cell));
      if ('turn' in now && now.turn.started_at > started_at) return this.watch(cell);
      // A budget runs from the creation of its agent, a moment before the turn.
      const budget = config.budgets?.find(({ until }) => until === started_at + run_ms)?.seconds;
      const limit = budget === undefined ? `run time of ${run_ms / 1000} s` : `time budget of ${budget} s`;
      this.#executor.happened(cell, { type: 'limit', at, limit, final, ...saidSoFar(cell) });
      // The run time includes the last answer.
      if (!final) this.#set(cell, RUN, started_at + run_ms, ring(true));
    };
    this.#set(cell, RUN, deadline.at + later_ms, ring(deadline.final));
    for (const [share, words] of WARNED_SHARES) {
      const at = started_at + share * run_ms + later_ms;
      if (run_ms < WARNED_MS || at <= this.#clock.now()) continue;
      this.#set(cell, `${RUN} ${share}`, at, () => {
        const { state: now } = cell.agent;
        if (!('turn' in now) || standsStill(now)) return;
        if (now.turn.started_at !== started_at + later_ms) return this.watch(cell);
        const text = `${words} of the limit "run" of a turn is used: ${(share * run_ms) / 1000} of ${run_ms / 1000} s`;
        this.#executor.happened(cell, { type: 'warn', at: this.#clock.now(), text });
      });
    }
  }

  #set(cell: Cell, name: string, at: number, ring: () => void): void {
    const { now, after } = this.#clock;
    cell.timers.get(name)?.();
    const delay = Math.min(Math.max(at - now(), 0), MAX_TIMER_MS);
    const look = (): void => {
      cell.timers.delete(name);
      if (cell.gone) return;
      // After a stop of the process, much rings at once, and the step that moves the deadline with the clock is only on its way.
      if (this.#executor.isStepping(cell)) return void cell.timers.set(name, after(STEPPING_MS, look));
      if (now() >= at) return ring();
      // Timers may ring a millisecond early, and long ones are set in parts; or the clock was set, and the deadline has moved with it.
      this.#executor.wake(cell);
      if (name === RUN) this.watch(cell);
      else this.#set(cell, name, at, ring);
    };
    cell.timers.set(name, after(delay, look));
  }
}
