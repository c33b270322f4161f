import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Home } from '../../test/cli/run-cli.ts';

const CLOCK = pathToFileURL(join(import.meta.dirname, 'skewed-clock.ts')).href;
const DRAIN_SECONDS = 5;
/** Time limit for a worker to end after SIGTERM. */
const LATEST_STOP_MS = 60_000;
const NICE = 10;

/** One `coppice worker`. */
export interface FleetWorker {
  readonly name: string;
  readonly child: ChildProcess;
  readonly skew_ms: number;
  /** Id of the worker in the ledger; null until the worker has logged it. */
  id: string | null;
  /** Way in which the worker was ended on purpose; one that ends otherwise is a failure. */
  fate: 'killed' | 'drained' | null;
  stopped: boolean;
  /** Time since which the worker has run undisturbed; null if it does not. */
  since: number | null;
  readonly ended: Promise<void>;
}

/** A period in which one worker ran undisturbed. Milliseconds since the epoch. */
export interface Untouched {
  readonly from: number;
  readonly until: number;
}

/** The worker processes of a run. */
export class WorkerFleet {
  readonly #home: Home;
  readonly #database: string;
  readonly #onNotBegun: () => void;
  readonly #living = new Set<FleetWorker>();
  /** Failures, in words. */
  readonly troubles: string[] = [];
  readonly untouched: Untouched[] = [];
  /** Worker id by process name, which is also the application name of its connections. */
  readonly writers = new Map<string, string>();
  started = 0;

  /** `onNotBegun` is called when a worker ended, as it should, because the database was unreachable at its start. */
  constructor(home: Home, database: string, onNotBegun: (fleet: WorkerFleet) => void) {
    this.#home = home;
    this.#database = database;
    this.#onNotBegun = () => onNotBegun(this);
  }

  /** Workers that run and have registered in the ledger. */
  get able(): FleetWorker[] {
    return [...this.#living].filter(({ stopped, fate, id }) => !stopped && fate === null && id !== null);
  }

  get stopped(): FleetWorker[] {
    return [...this.#living].filter((worker) => worker.stopped);
  }

  start(skew_ms: number): FleetWorker {
    this.started += 1;
    const args = ['worker', '--database', this.#database, '--log', 'json', '--drain', `${DRAIN_SECONDS}`];
    const name = `worker ${this.started}`;
    const skew = skew_ms === 0 ? {} : { NODE_OPTIONS: `--import=${CLOCK}`, CHAOS_SKEW_MS: `${skew_ms}` };
    const env = { PGAPPNAME: name, ...skew };
    const { child, ended } = this.#home.start(args, { env });
    if (child.pid !== undefined) setPriority(child.pid, NICE);
    const worker: FleetWorker = {
      name,
      child,
      skew_ms,
      id: null,
      fate: null,
      stopped: false,
      since: null,
      ended: ended.then(({ code, signal, stderr }) => {
        this.#living.delete(worker);
        const last = stderr.trim().split('\n').slice(-3).join(' | ');
        if (worker.fate === null && worker.id === null && /cannot be reached/.test(last)) this.#onNotBegun();
        else if (worker.fate === null)
          this.troubles.push(`${worker.name} ended by itself (${code ?? signal}): ${last}`);
        else if (worker.fate === 'drained' && code !== 0)
          this.troubles.push(`${worker.name} was drained and ended with ${code ?? signal}: ${last}`);
      }),
    };
    child.stderr?.on('data', (text: string) => {
      if (worker.id !== null) return;
      worker.id = /"worker":"([^"]+)"/.exec(text)?.[1] ?? null;
      if (worker.id === null) return;
      this.writers.set(name, worker.id);
      if (worker.fate === null && !worker.stopped) worker.since = Date.now();
    });
    this.#living.add(worker);
    return worker;
  }

  async kill(worker: FleetWorker): Promise<void> {
    this.#touch(worker);
    worker.fate = 'killed';
    worker.child.kill('SIGKILL');
    await worker.ended;
  }

  stop(worker: FleetWorker): void {
    this.#touch(worker);
    worker.stopped = true;
    worker.child.kill('SIGSTOP');
  }

  goOn(worker: FleetWorker): void {
    worker.stopped = false;
    worker.child.kill('SIGCONT');
    worker.since = Date.now();
  }

  async drain(worker: FleetWorker): Promise<void> {
    this.#touch(worker);
    worker.fate = 'drained';
    worker.child.kill('SIGTERM');
    const timer = setTimeout(() => {
      this.troubles.push(`${worker.name} was told to stop and did not`);
      worker.child.kill('SIGKILL');
    }, LATEST_STOP_MS);
    await worker.ended;
    clearTimeout(timer);
  }

  #touch(worker: FleetWorker): void {
    if (worker.since !== null) this.untouched.push({ from: worker.since, until: Date.now() });
    worker.since = null;
  }

  async end(): Promise<void> {
    for (const worker of this.stopped) this.goOn(worker);
    await Promise.all(
      [...this.#living].map((worker) => (worker.fate === null ? this.drain(worker) : worker.ended)),
    );
  }
}
