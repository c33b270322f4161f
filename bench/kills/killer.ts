import type { Point, Situation, StepKind } from './kill-points.ts';

/** Order that says where a leader process kills itself. */
export interface KillOrder {
  readonly point: Point;
  /** The preferred target. */
  readonly hit: StepKind | Situation;
  /** Number of targets that pass first. */
  readonly skip: number;
  /** Number of other hits at the point after which the process takes any. */
  readonly patience: number;
  /** Microseconds from the beginning of a commit, for `in-commit`. */
  readonly delay_us: number;
}

/** Decides when its own process dies, and kills it. */
export class Killer {
  readonly #order: KillOrder | null;
  readonly #tell: (point: Point, hit: StepKind | Situation) => void;
  #skip: number;
  #patience: number;
  #fired = false;

  /** `tell` is called before the kill, and must have written it down when it returns. */
  constructor(order: KillOrder | null, tell: (point: Point, hit: StepKind | Situation) => void) {
    this.#order = order;
    this.#tell = tell;
    this.#skip = order?.skip ?? 0;
    this.#patience = order?.patience ?? 0;
  }

  /** Called at a point that could hit one of `hits`; true when the process must die here, which is then already in the journal. */
  reached(point: Point, hits: readonly (StepKind | Situation)[]): boolean {
    if (this.#fired || this.#order?.point !== point) return false;
    const wanted = hits.find((hit) => hit === this.#order?.hit);
    // Every process begins with resuming, which would otherwise absorb most kills.
    const other = hits.find((hit) => hit !== 'resume');
    if (wanted !== undefined) this.#skip -= 1;
    else if (other !== undefined) this.#patience -= 1;
    const victim = wanted ?? other;
    if (victim === undefined || (this.#skip >= 0 && this.#patience >= 0)) return false;
    this.#fired = true;
    this.#tell(point, victim);
    return true;
  }

  /** Kills this process with SIGKILL: nothing runs after it. */
  die(): never {
    process.kill(process.pid, 'SIGKILL');
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}
