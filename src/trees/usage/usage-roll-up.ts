import type { LoadReads, PlacedUsage } from '../../store/load-reads.ts';
import { pause } from '../cpu-meter.ts';
import { SharedRead } from './patient-read.ts';
import { addSums, DAY_MS, largest, NOTHING_USED, noSums, UsageDays, type UsageSum } from './usage-days.ts';

/** Rows per read, few enough to delay other work of the server by milliseconds only. */
const PAGE = 200;
/** Requests that ended within this time are read again, because others may still commit at lower places. */
const OVERLAP_MS = 120_000;
export const DAYS_MAX = 366;

interface UsageStore extends Pick<LoadReads, 'usageAfter'> {
  now(): Promise<number>;
}

export interface UsageReport {
  /** False while history is still being read. */
  readonly complete: boolean;
  readonly total: UsageSum;
  /** `day` as `2026-01-31`, oldest first. */
  readonly by_day: readonly (UsageSum & { readonly day: string })[];
  readonly by_model: readonly (readonly [string, UsageSum])[];
  readonly by_profile: readonly (readonly [string | null, UsageSum])[];
  readonly by_tree: readonly (readonly [string, UsageSum])[];
  readonly by_agent: readonly (readonly [string, UsageSum])[];
}

/**
 * Sums of all model requests of the ledger. The first call reads history page by page, later ones only what is new. Requests that were removed from the
 * ledger after they were read still count, unless the newest one read was removed: then history is read again.
 */
export class UsageRollUp {
  readonly #store: UsageStore;
  #old = new UsageDays();
  /** The newest request in `#old`. */
  #last: PlacedUsage | null = null;
  /** Sums of the requests that are read again next time. */
  #recent = new UsageDays();
  readonly #soon = new SharedRead(() => this.#read());

  constructor(store: UsageStore) {
    this.#store = store;
  }

  /** Report on the last `days` days including today, with the `limit` largest of each kind. */
  async report(days: number, limit: number): Promise<UsageReport> {
    const complete = await this.#soon.soon();
    const today = Math.floor((await this.#store.now()) / DAY_MS);
    const sums = noSums();
    const by_day = [];
    for (let day = today - days + 1; day <= today; day += 1) {
      this.#old.addDayTo(day, sums);
      this.#recent.addDayTo(day, sums);
      const used = addSums(this.#old.totalOf(day), this.#recent.totalOf(day));
      by_day.push({ ...used, day: new Date(day * DAY_MS).toISOString().slice(0, 10) });
      await pause();
    }
    return {
      complete,
      total: by_day.reduce<UsageSum>((sum, { day, ...used }) => addSums(sum, used), NOTHING_USED),
      by_day,
      by_model: largest(sums.model, limit),
      by_profile: largest(sums.profile, limit),
      by_tree: largest(sums.root_id, limit),
      by_agent: largest(sums.agent_id, limit),
    };
  }

  async #read(): Promise<void> {
    const now = await this.#store.now();
    const oldest = Math.floor(now / DAY_MS) - DAYS_MAX;
    this.#old.forgetBefore(oldest);
    this.#recent = new UsageDays();
    let after = this.#last === null ? 0 : this.#last.place - 1;
    let is_old = true;
    for (;;) {
      const page: readonly PlacedUsage[] = await this.#store.usageAfter(after, PAGE);
      const begins_known: boolean = this.#last !== null && after < this.#last.place;
      if (begins_known && !isSame(page[0], this.#last)) {
        this.#old = new UsageDays();
        this.#last = null;
        after = 0;
        continue;
      }
      for (const one of begins_known ? page.slice(1) : page) {
        // A request that ends in the future comes from a machine whose clock is wrong.
        is_old &&= Math.abs(now - one.started_at - one.duration_ms) > OVERLAP_MS;
        if (is_old) this.#last = one;
        if (one.started_at >= oldest * DAY_MS) (is_old ? this.#old : this.#recent).add(one);
      }
      const newest = page.at(-1);
      if (newest === undefined || page.length < PAGE) break;
      after = newest.place;
      await pause();
    }
  }
}

function isSame(found: PlacedUsage | undefined, last: PlacedUsage | null): boolean {
  return (
    found?.place === last?.place &&
    found?.agent_id === last?.agent_id &&
    found?.started_at === last?.started_at
  );
}
