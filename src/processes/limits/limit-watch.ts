import { type Amounts, type Excess, excessOf, type Processes } from './process-usage.ts';

/** Delay before the first measurement, and minimum delay between two: most commands end before the first. */
const LOOK_MS = 250;
/** Delay after a measurement, as a multiple of its duration: measuring takes at most about a twentieth of the time. */
const SHARE = 20;
/** Upper bound of the delay, however long a measurement takes. */
const LOOK_MAX_MS = 2000;

/**
 * Polls the resource usage of one command's processes until it is closed or they exceed a limit. `processes`: returns undefined until they are known. Linux
 * only: elsewhere there is no `/proc`.
 */
export class LimitWatch {
  readonly #limits: Amounts;
  readonly #processes: () => Processes | undefined;
  readonly #onExcess: (excess: Excess) => void;
  readonly #look_ms: number;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    limits: Amounts,
    processes: () => Processes | undefined,
    onExcess: (excess: Excess) => void,
    look_ms = LOOK_MS,
  ) {
    this.#look_ms = look_ms;
    this.#limits = limits;
    this.#processes = processes;
    this.#onExcess = onExcess;
    if (process.platform === 'linux') this.#later(look_ms);
  }

  #later(delay_ms: number): void {
    this.#timer = setTimeout(() => void this.#look(), delay_ms).unref();
  }

  async #look(): Promise<void> {
    const begun_ms = performance.now();
    const excess = await this.#measure();
    if (this.#closed) return;
    if (excess !== null) return this.#onExcess(excess);
    const spent_ms = performance.now() - begun_ms;
    this.#later(Math.min(Math.max(this.#look_ms, SHARE * spent_ms), LOOK_MAX_MS));
  }

  async #measure(): Promise<Excess | null> {
    try {
      const processes = this.#processes();
      return processes === undefined ? null : await excessOf(processes, this.#limits);
    } catch {
      return null; // the processes have ended
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
