import { addUsage, NO_USAGE, type Usage } from '../../records/agent/usage.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { LoadReads, PlacedUsage } from '../../store/load-ledger.ts';
import { pause } from '../cpu-meter.ts';
import { SharedRead } from './patient-read.ts';

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

const DAY_MS = 86_400_000;

export interface UsageSum extends Usage {
  readonly requests: number;
}

const NOTHING_USED: UsageSum = { ...NO_USAGE, requests: 0 };

/** What usage is summed by. */
const KINDS = ['model', 'profile', 'root_id', 'agent_id'] as const;
type Sums<Name> = Map<Name, UsageSum>;
type DaySums = { readonly [Kind in (typeof KINDS)[number]]: Sums<PlacedUsage[Kind]> };

function noSums(): DaySums {
  return { model: new Map(), profile: new Map(), root_id: new Map(), agent_id: new Map() };
}

/** Usage per day in UTC, kept as sums, never as rows. */
class UsageDays {
  readonly #days = new Map<number, DaySums>();

  add(request: PlacedUsage): void {
    const day = keptIn(this.#days, Math.floor(request.started_at / DAY_MS), noSums);
    for (const kind of KINDS) addTo(day[kind], request[kind], { ...request.usage, requests: 1 });
  }

  addDayTo(number: number, into: DaySums): void {
    const day = this.#days.get(number);
    if (day === undefined) return;
    for (const kind of KINDS) for (const [name, used] of day[kind]) addTo(into[kind], name, used);
  }

  totalOf(number: number): UsageSum {
    return [...(this.#days.get(number)?.model.values() ?? [])].reduce(addSums, NOTHING_USED);
  }

  forgetBefore(number: number): void {
    for (const day of this.#days.keys()) if (day < number) this.#days.delete(day);
  }
}

function addSums(a: UsageSum, b: UsageSum): UsageSum {
  return { ...addUsage(a, b), requests: a.requests + b.requests };
}

function addTo(sums: Sums<string | null>, name: string | null, used: UsageSum): void {
  sums.set(name, addSums(sums.get(name) ?? NOTHING_USED, used));
}

/** Returns the `limit` largest by cost, then by tokens. Takes one pass, because a ledger may have many trees. */
function largest<Name>(
  sums: ReadonlyMap<Name, UsageSum>,
  limit: number,
): readonly (readonly [Name, UsageSum])[] {
  const found: [Name, UsageSum][] = [];
  for (const one of sums) {
    const last = found.at(-1);
    if (found.length === limit && last !== undefined && bySize(last, one) <= 0) continue;
    const at = found.findIndex((other) => bySize(one, other) < 0);
    found.splice(at === -1 ? found.length : at, 0, one);
    if (found.length > limit) found.pop();
  }
  return found;
}

function bySize([, a]: readonly [unknown, UsageSum], [, b]: readonly [unknown, UsageSum]): number {
  return (b.cost_usd ?? 0) - (a.cost_usd ?? 0) || b.input + b.output - (a.input + a.output);
}
