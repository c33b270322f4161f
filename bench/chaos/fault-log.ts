/** Kinds of faults, described. */
export const FAULTS = {
  'kill -9': 'a worker was killed with SIGKILL, and another one started',
  stop: 'a worker was stopped with SIGSTOP for longer than its lease, then went on',
  skew: 'a worker was started with a clock that is up to an hour off',
  drain: 'a worker was told to stop with SIGTERM, and another one started',
  backends: 'connections of workers were ended with pg_terminate_backend',
  restart: 'the database was stopped at once (SIGQUIT) and started again',
  'full disk': 'the disk of the database was full for some seconds',
} as const;
export type Fault = keyof typeof FAULTS;

/** One fault that fired. */
export interface FiredFault {
  readonly fault: Fault;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Time at which the cause of the fault ended, in milliseconds since the epoch. */
  readonly until: number;
  readonly what: string;
  /** Worker that lost its agents; null if the fault hits no single worker. */
  readonly worker: string | null;
}

/** Every fault of a run, with its time. */
export class FaultLog {
  readonly fired: FiredFault[] = [];
  readonly #tell: (line: string) => void;
  readonly #started_at = Date.now();

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  add(fault: Fault, at: number, what: string, worker: string | null = null): void {
    this.fired.push({ fault, at, until: Date.now(), what, worker });
    this.#tell(`${((at - this.#started_at) / 1000).toFixed(1).padStart(7)} s  ${fault.padEnd(9)}  ${what}`);
  }

  count(fault: Fault): number {
    return this.fired.filter((one) => one.fault === fault).length;
  }
}
