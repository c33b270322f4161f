import type { Point, Situation, StepKind } from './kill-points.ts';

/** How the life of one leader is to end. */
export interface KillOrder {
  readonly point: Point;
  /** What it would best hit. */
  readonly hit: StepKind | Situation;
  /** How many of these it lets pass first. */
  readonly skip: number;
  /** After so many others at the point it takes what comes. */
  readonly patience: number;
  /** Microseconds from the beginning of a commit, for `in-commit`. */
  readonly delay_us: number;
}

/** Decides when the process that it is in dies, and lets it die. */
export class Killer {
  readonly #order: KillOrder | null;
  readonly #tell: (point: Point, hit: StepKind | Situation) => void;
  #skip: number;
  #patience: number;
  #fired = false;

  /** `tell` is called before the death, and must have written it down when it returns. */
  constructor(order: KillOrder | null, tell: (point: Point, hit: StepKind | Situation) => void) {
    this.#order = order;
    this.#tell = tell;
    this.#skip = order?.skip ?? 0;
    this.#patience = order?.patience ?? 0;
  }

  /** The process is at a point where it could hit one of `hits`; true when it must die here, which is written down by then. */
  reached(point: Point, hits: readonly (StepKind | Situation)[]): boolean {
    if (this.#fired || this.#order?.point !== point) return false;
    const wanted = hits.find((hit) => hit === this.#order?.hit);
    // Every life begins with resuming: what comes after it has to have its share.
    const other = hits.find((hit) => hit !== 'resume');
    if (wanted !== undefined) this.#skip -= 1;
    else if (other !== undefined) this.#patience -= 1;
    const victim = wanted ?? other;
    if (victim === undefined || (this.#skip >= 0 && this.#patience >= 0)) return false;
    this.#fired = true;
    this.#tell(point, victim);
    return true;
  }

  /** SIGKILL to this very process: nothing runs after it. */
  die(): never {
    process.kill(process.pid, 'SIGKILL');
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
}
