import { statusWord } from '../../render/agent-status.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { metered } from '../own-cpu.ts';

/** Refreshes take no more than one part in so many of the CPU time. */
const SHARE = 200;
const REST_MAX_MS = 5_000;
/** Pages hear of a change at the same time: those that ask within this time share answers, and the rest that follows. */
const ROUND_MS = 250;

interface Round {
  readonly began: number;
  readonly answers: Map<string, Promise<string>>;
  under_way: number;
  cpu_ms: number;
}

export interface RefreshOptions {
  readonly runtime: Pick<RuntimeFace, 'subscribe'>;
  /** When those who refresh were told last that something has changed, by `performance.now()`. */
  readonly toldAt: () => number;
}

/**
 * Answers to those who load again what they only look at. While agents are at work in this process, whoever watches shares a small part of its CPU time:
 *  R1. A round of refreshes that cost t ms of CPU is followed by a rest of 200·t ms, 5 s at most, in which nothing is made anew.
 *  R2. In a round, the same question has one answer, made after the last change that anybody was told of.
 *  R3. When no agent is at work here, nobody has to wait.
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
   * What `make` resolves to, for whoever asks by the same key; a number: the milliseconds after which to ask again. `make` gets the time, by
   * `performance.now()`, since which its reads are new enough.
   */
  async answer(key: string, make: (as_of: number) => Promise<string>): Promise<string | number> {
    const now = performance.now();
    if (now - this.#round.began > ROUND_MS || this.#toldAt() > this.#round.began) {
      const left_ms = this.#round.under_way > 0 ? ROUND_MS : this.#rests_until - now;
      if (left_ms > 0 && this.#working.size > 0) return left_ms;
      this.#round = { began: now, answers: new Map(), under_way: 0, cpu_ms: 0 };
    }
    const round = this.#round;
    const known = round.answers.get(key) ?? this.#make(round, () => make(round.began));
    round.answers.set(key, known);
    return known;
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
