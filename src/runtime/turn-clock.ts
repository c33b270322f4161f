import { isAsking, runDeadline } from '../core/parked.ts';
import { runTime } from '../core/run-time.ts';
import { isWorking } from '../core/state.ts';
import type { Cell } from './cell.ts';
import type { Executor } from './executor.ts';
import type { Surroundings } from './surroundings.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const RUN = 'run';
const ASKING_LOOK_MS = 5_000;

/** The timers of agents: waits that end, turns that take too long. Timers follow from the state, so a successor sets them again. */
export class TurnClock {
  readonly #executor: Executor;
  readonly #surroundings: Surroundings;

  constructor(executor: Executor, surroundings: Surroundings) {
    this.#executor = executor;
    this.#surroundings = surroundings;
  }

  /** Wakes the agent at `at`, milliseconds since the epoch; `name` tells its timers apart. */
  wakeAt(cell: Cell, name: string, at: number): void {
    this.#set(cell, name, at, () => this.#executor.wake(cell));
  }

  /** Ends the turn of this agent when its run time is used up. */
  watch(cell: Cell): void {
    const { state, root_id, config } = cell.agent;
    const limits = this.#executor.forest.tree(root_id)?.limits;
    if (limits === undefined) return;
    const run_ms = runTime(config, limits);
    const at = runDeadline(state, run_ms);
    if (at === null || !('turn' in state)) return;
    this.#set(cell, RUN, at, () => {
      if (!isWorking(cell.agent.state.type)) return;
      // While a person is asked the clock stands still, and an answer has set it back.
      if (isAsking(cell.agent.state)) return this.wakeLater(cell);
      const now = cell.agent.state;
      if ('turn' in now && now.turn.started_at > state.turn.started_at) return this.watch(cell);
      this.#executor.happened(cell, {
        type: 'limit',
        at: this.#surroundings.now(),
        limit: `run time of ${run_ms / 1000} s`,
      });
    });
  }

  /** Looks again at a turn that waits for a person. */
  wakeLater(cell: Cell): void {
    this.#set(cell, RUN, this.#surroundings.now() + ASKING_LOOK_MS, () => this.watch(cell));
  }

  #set(cell: Cell, name: string, at: number, ring: () => void): void {
    const { now, after } = this.#surroundings;
    cell.timers.get(name)?.();
    const delay = Math.min(Math.max(at - now(), 0), LONGEST_TIMER_MS);
    cell.timers.set(
      name,
      after(delay, () => {
        cell.timers.delete(name);
        if (cell.gone) return;
        // A timer may come a millisecond early, and long ones in parts.
        if (now() < at) this.#set(cell, name, at, ring);
        else ring();
      }),
    );
  }
}
