import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { LEASE_MS } from '../../src/kernel/ledger/leases.ts';
import type { PostgresServer } from '../../test/postgres/start-postgres.ts';
import type { Random } from '../../test/sim/random.ts';
import { patiently, terminateBackends } from './chaos-ledger.ts';
import type { Fault, FaultLog } from './fault-log.ts';
import type { SmallDisk } from './small-disk.ts';
import type { WorkerFleet } from './worker-fleet.ts';

export interface FaultMakerOptions {
  readonly fleet: WorkerFleet;
  readonly server: PostgresServer;
  readonly pool: pg.Pool;
  readonly log: FaultLog;
  readonly random: Random;
  /** Mean seconds between two faults of a kind; a missing kind is not made. */
  readonly every: Readonly<Partial<Record<Exclude<Fault, 'skew'>, number>>>;
  /** Probability that a new worker's clock is off. */
  readonly skewed: number;
  readonly disk: SmallDisk | null;
}

const LOOK_MS = 100;
/** Time for which a worker stays stopped beyond its lease. */
const LONGER_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
const FULL_MS = 3_000;
/** Time limit for a server that restarts its own processes. */
const RECOVERY_MS = 8_000;
const HOUR_MS = 3_600_000;
const MOST_BACKENDS = 4;

/** Makes faults until its time is up, each kind at its own interval; faults of the database one at a time. */
export class FaultMaker {
  readonly #options: FaultMakerOptions;
  #database: Promise<void> = Promise.resolve();

  constructor(options: FaultMakerOptions) {
    this.#options = options;
  }

  /** Resolves when the last fault is over: workers run, the database answers. */
  async run(ms: number): Promise<void> {
    const { every, random, log } = this.#options;
    const kinds = Object.keys(every) as (keyof typeof every)[];
    const wait = (kind: keyof typeof every) => (every[kind] as number) * 1_000 * (0.6 + 0.8 * random.next());
    // The first of each kind comes early, so that a short run has all kinds.
    const due = new Map(kinds.map((kind) => [kind, Date.now() + wait(kind) / 2]));
    const running = new Set<Promise<void>>();
    const end = Date.now() + ms;
    // A kind that has not fired yet, for lack of a target or a connection, is tried again at once, if necessary after the time is up.
    const missing = () => kinds.filter((kind) => log.count(kind) === 0);
    const isOver = () => Date.now() > end && (missing().length === 0 || Date.now() > end + LONGEST_WAIT_MS);
    for (; !isOver(); await sleep(LOOK_MS))
      for (const kind of Date.now() < end ? kinds : missing()) {
        if (Date.now() < (due.get(kind) as number) || !this.#canMake(kind)) continue;
        due.set(kind, Date.now() + wait(kind));
        const one = this.#make(kind).finally(() => {
          running.delete(one);
          if (log.count(kind) === 0) due.set(kind, Date.now());
        });
        running.add(one);
      }
    await Promise.all(running);
  }

  startWorker(): void {
    const { fleet, log, random, skewed } = this.#options;
    const is_skewed = random.chance(skewed);
    const skew_ms = is_skewed ? random.pick([-1, 1]) * random.between(HOUR_MS / 2, HOUR_MS) : 0;
    const { name } = fleet.start(skew_ms);
    if (is_skewed) log.add('skew', Date.now(), `${name}: ${Math.round(skew_ms / 60_000)} minutes`);
  }

  #make(kind: Exclude<Fault, 'skew'>): Promise<void> {
    switch (kind) {
      case 'kill -9':
        return this.#kill();
      case 'stop':
        return this.#stop();
      case 'drain':
        return this.#drain();
      case 'backends':
        return this.#terminate();
      case 'restart':
        return this.#alone(() => this.#restart());
      case 'full disk':
        return this.#alone(() => this.#fill());
    }
  }

  /** Whether there is a target, and for `stop` another worker to take over. */
  #canMake(kind: Exclude<Fault, 'skew'>): boolean {
    const { length } = this.#options.fleet.able;
    return kind === 'stop' ? length > 1 : length > 0;
  }

  async #kill(): Promise<void> {
    const { fleet, log } = this.#options;
    const worker = this.#any();
    if (worker === null) return;
    const at = Date.now();
    await fleet.kill(worker);
    log.add('kill -9', at, worker.name, worker.id);
    this.startWorker();
  }

  async #stop(): Promise<void> {
    const { fleet, log } = this.#options;
    const worker = this.#any();
    if (worker === null) return;
    const at = Date.now();
    fleet.stop(worker);
    await sleep(LEASE_MS + LONGER_MS);
    fleet.goOn(worker);
    log.add('stop', at, `${worker.name}, ${LEASE_MS + LONGER_MS} ms`, worker.id);
  }

  async #drain(): Promise<void> {
    const { fleet, log } = this.#options;
    const worker = this.#any();
    if (worker === null) return;
    const at = Date.now();
    this.startWorker();
    await fleet.drain(worker);
    log.add('drain', at, `${worker.name}, ended after ${Date.now() - at} ms`);
  }

  async #terminate(): Promise<void> {
    const { pool, log, random } = this.#options;
    const at = Date.now();
    const ended = await terminateBackends(pool, random.between(1, MOST_BACKENDS)).catch(() => 0);
    if (ended > 0) log.add('backends', at, `${ended} connections`);
  }

  async #restart(): Promise<void> {
    const { server, log } = this.#options;
    const at = Date.now();
    await server.restart();
    log.add('restart', at, `back after ${Date.now() - at} ms`);
  }

  async #fill(): Promise<void> {
    const { disk, server, pool, log } = this.#options;
    if (disk === null) return;
    const at = Date.now();
    disk.fill();
    await sleep(FULL_MS);
    disk.free();
    // A server that cannot write its log ends itself, and must be restarted.
    const alive = await answers(pool);
    if (!alive) await server.restart();
    await patiently(() => pool.query('SELECT 1'));
    log.add('full disk', at, alive ? 'the server stayed' : 'the server ended itself and was started again');
  }

  /** One fault of the database at a time. */
  #alone(work: () => Promise<void>): Promise<void> {
    const next = this.#database.then(work);
    this.#database = next.catch(() => undefined);
    return next;
  }

  #any() {
    const { fleet, random } = this.#options;
    return fleet.able.length === 0 ? null : random.pick(fleet.able);
  }
}

async function answers(pool: pg.Pool): Promise<boolean> {
  for (const end = Date.now() + RECOVERY_MS; Date.now() < end; await sleep(LOOK_MS)) {
    const answered = await pool.query('SELECT 1').catch(() => null);
    if (answered !== null) return true;
  }
  return false;
}
