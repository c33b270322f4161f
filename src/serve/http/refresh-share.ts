import { keptIn } from '../../records/kept-in.ts';
import { statusWord } from '../../render/agent-status.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { metered } from '../../trees/cpu-meter.ts';

/** Refreshes take at most 1/SHARE of the CPU time. */
const SHARE = 200;
const REST_MAX_MS = 5_000;
/** Duration of a round. Pages are notified of a change at the same time; requests within a round share answers and the pause after it. */
const ROUND_MS = 250;

interface Round {
  readonly began: number;
  readonly answers: Map<string, Promise<string>>;
  under_way: number;
  cpu_ms: number;
}

export interface RefreshOptions {
  readonly runtime: Pick<RuntimeFace, 'subscribe'>;
  /** Time at which clients were last notified of a change, by `performance.now()`. */
  readonly toldAt: () => number;
}

/**
 * Answers to clients that reload a view. While agents are working in this process, all reloads share a small part of its CPU time:
 *  R1. A round of refreshes that cost t ms of CPU is followed by a pause of 200·t ms, 5 s at most, in which no new answer is made.
 *  R2. Within a round, equal requests share one answer, made after the last change that clients were notified of.
 *  R3. While no agent is working here, no request has to wait.
 */
export class Refreshes {
  readonly #toldAt: () => number;
  readonly #unsubscribe: () => void;
  readonly #working = new Set<string>();
  #round: Round = { began: Number.NEGATIVE_INFINITY, answers: new Map(), under_way: 0, cpu_ms: 0 };
  #rests_until = 0;

  constructor({ runtime, toldAt }: RefreshOptions) {
    this.#toldAt = toldAt;
    this.#unsubscribe = runtime.subscribe((event) => {
      if (event.type === 'agent') {
        if (statusWord(event.agent) === 'running') this.#working.add(event.agent.id);
        else this.#working.delete(event.agent.id);
      } else if (event.type === 'removed') for (const id of event.ids) this.#working.delete(id);
    });
  }

  /**
   * Resolves to the result of `make`, shared by callers with the same key, or to the number of milliseconds after which to ask again. `make` gets the time,
   * by `performance.now()`, since which cached reads are fresh enough.
   */
  async answer(key: string, make: (as_of: number) => Promise<string>): Promise<string | number> {
    const now = performance.now();
    if (now - this.#round.began > ROUND_MS || this.#toldAt() > this.#round.began) {
      const left_ms = this.#round.under_way > 0 ? ROUND_MS : this.#rests_until - now;
      if (left_ms > 0 && this.#working.size > 0) return left_ms;
      this.#round = { began: now, answers: new Map(), under_way: 0, cpu_ms: 0 };
    }
    const round = this.#round;
    return keptIn(round.answers, key, () => this.#make(round, () => make(round.began)));
  }

  close(): void {
    this.#unsubscribe();
  }

  async #make(round: Round, make: () => Promise<string>): Promise<string> {
    round.under_way += 1;
    return metered(make, (cpu_ms) => {
      round.under_way -= 1;
      round.cpu_ms += cpu_ms;
      this.#rests_until = performance.now() + Math.min(REST_MAX_MS, round.cpu_ms * SHARE);
    });
  }
}
