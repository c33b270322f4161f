import type { DatabaseSync } from 'node:sqlite';
import type { Step } from '../../src/kernel/step.ts';
import { WORKING } from '../../src/store/ledger/sql-conditions.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Maximum time for which a commit is held, milliseconds. */
const MOST_MS = 2_000;
const OFTEN = 0.7;

/** Delays a commit that parks until an awaited agent, led by another process, comes to rest: the worst order for both. */
export class HeldParks {
  readonly #database: DatabaseSync;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #held = new Set<string>();
  readonly #released_at = new Map<string, number>();

  constructor(database: DatabaseSync, time: VirtualTime, random: Random) {
    this.#database = database;
    this.#time = time;
    this.#random = random;
  }

  /** Whether a commit of this worker is being held. */
  isHeld(worker: string | null): boolean {
    return worker !== null && this.#held.has(worker);
  }

  /** When a commit of this worker was held last; 0: never. */
  releasedAt(worker: string | null): number {
    return this.#released_at.get(worker ?? '') ?? 0;
  }

  async hold(steps: readonly Step[]): Promise<void> {
    const [first] = steps;
    const row = this.#database.prepare('SELECT worker FROM agents WHERE id = ?').get(first?.agent_id ?? '');
    if (typeof row?.worker !== 'string') return;
    const { worker } = row;
    const works = this.#database.prepare(`SELECT 1 FROM agents WHERE id = ? AND worker <> ? AND ${WORKING}`);
    const atWork = (id: string) => works.get(id, worker) !== undefined;
    const awaited = steps.flatMap(({ waits_for }) => waits_for ?? []).filter(atWork);
    if (awaited.length === 0 || !this.#random.chance(OFTEN)) return;
    const until = this.#time.now + MOST_MS;
    this.#held.add(worker);
    while (this.#time.now < until && awaited.every(atWork))
      await new Promise<void>((resolve) => this.#time.after(1, null, resolve));
    this.#held.delete(worker);
    this.#released_at.set(worker, this.#time.now);
  }
}
