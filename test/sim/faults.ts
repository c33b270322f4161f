import type { Random } from './random.ts';
import type { Trace } from './trace.ts';

/** Every kind of fault with its description. */
export const FAULTS = {
  'store-slow': 'a call to the ledger takes seconds',
  'store-fails-before': 'the connection breaks before the ledger has done anything',
  'store-fails-after': 'the ledger has done it, and the connection breaks before the answer',
  'store-busy': 'another process keeps the ledger locked',
  'store-unavailable': 'the ledger cannot be reached for a while',
  'disk-full': 'the ledger can be read and not written for a while',
  'read-delayed': 'what was read is old when it arrives',
  'wake-lost': 'a wake-up never comes',
  'wake-doubled': 'a wake-up comes twice',
  'claim-split': 'two processes claim at once, and each gets some of the agents',
  'lease-lost': 'all leases run out at once, and another process has some of the agents for a while',
  'model-error': 'the provider refuses the request',
  'model-rate-limit': 'the provider asks to slow down, or is overloaded',
  'model-hang': 'the provider never answers',
  'model-cut': 'the stream of an answer breaks off',
  'model-bad-arguments': 'a call has arguments that cannot be used',
  'model-empty': 'an answer without any content',
  'model-slow': 'an answer takes a minute',
  'tool-error': 'a tool fails',
  'tool-hang': 'a tool never ends by itself',
  crash: 'a process dies with everything in memory',
  'crash-write-lands': 'what a dead process had handed to the ledger is done afterwards',
  'crash-write-lost': 'what a dead process had handed to the ledger never arrives',
  pause: 'a process sleeps for seconds',
  'pause-past-lease': 'a process sleeps longer than its lease lives',
  'orderly-stop': 'a process closes and gives up its leases',
  'clock-jump': 'the clock of a process jumps',
  'human-kill': 'a person kills an agent',
  'human-interrupt': 'a person interrupts an agent',
} as const;

export type Fault = keyof typeof FAULTS;

/** Faults that are consequences of others and therefore have no rate of their own. */
const FOLLOWING: ReadonlySet<Fault> = new Set(['crash-write-lands', 'crash-write-lost']);
const MOST_OFTEN = 0.12;
/** Maximum rates of faults whose occasions are rarer than calls to the ledger. */
const MORE_OFTEN: Readonly<Partial<Record<Fault, number>>> = {
  'claim-split': 0.9,
  'lease-lost': 0.3,
  'wake-lost': 0.5,
  'wake-doubled': 0.5,
  'model-error': 0.15,
  'model-rate-limit': 0.3,
  'model-hang': 0.15,
  'model-cut': 0.3,
  'model-bad-arguments': 0.3,
  'model-empty': 0.2,
  'model-slow': 0.2,
  'tool-error': 0.3,
  'tool-hang': 0.3,
};

/** Faults that delay nothing, so that every wait must still end promptly. */
const HARMLESS: ReadonlySet<Fault> = new Set([
  'wake-doubled',
  'claim-split',
  'model-error',
  'model-cut',
  'model-bad-arguments',
  'model-empty',
  'tool-error',
  'orderly-stop',
  'human-kill',
  'human-interrupt',
]);

/** Rates of the faults that cause trees to be led by several processes. */
const SHARES: Readonly<Partial<Record<Fault, number>>> = { 'claim-split': 0.7, 'orderly-stop': 0.1 };

/** Faults under which no request is repeated but by another process: kills, restarts, and hints and reads that are late. */
export const RESTARTS: Readonly<Partial<Record<Fault, number>>> = {
  ...{ crash: 0.06, 'orderly-stop': 0.04, 'model-slow': 0.05 },
  ...{ 'wake-lost': 0.2, 'wake-doubled': 0.2, 'store-slow': 0.02, 'read-delayed': 0.05 },
};

/** Which kinds of fault can occur in a run, how often each did, and whether any may occur now. */
export class Faults {
  /** False in the calm at the end, in which all work must end. */
  active = true;
  readonly counts = new Map<Fault, number>();
  readonly #rates = new Map<Fault, number>();
  readonly #random: Random;
  readonly #trace: Trace;

  /** `only`: the rates of the only faults that occur. */
  constructor(
    random: Random,
    trace: Trace,
    harmless = false,
    only?: Readonly<Partial<Record<Fault, number>>>,
  ) {
    this.#random = random;
    this.#trace = trace;
    for (const fault of Object.keys(FAULTS) as Fault[]) {
      // Not every fault in every run: some hide what others would reveal.
      const rate = random.chance(0.55) ? (MORE_OFTEN[fault] ?? MOST_OFTEN) * random.next() ** 2 : 0;
      if (only !== undefined) {
        this.#rates.set(fault, FOLLOWING.has(fault) ? 1 : (only[fault] ?? 0));
        continue;
      }
      if (harmless && !HARMLESS.has(fault)) continue;
      this.#rates.set(fault, FOLLOWING.has(fault) ? 1 : ((harmless ? SHARES[fault] : undefined) ?? rate));
    }
  }

  isPlanned(fault: Fault): boolean {
    return (this.#rates.get(fault) ?? 0) > 0;
  }

  /** Whether the fault occurs now, by its rate in this run; counts it if so. */
  strikes(fault: Fault, who: string): boolean {
    const rate = this.active ? (this.#rates.get(fault) ?? 0) : 0;
    if (rate === 0 || !this.#random.chance(rate)) return false;
    this.count(fault, who);
    return true;
  }

  count(fault: Fault, who: string): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    this.#trace.add(who, `fault ${fault}`);
  }
}
