import { addUsage, NO_USAGE, type Usage } from '../../records/agent/usage.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { PlacedUsage } from '../../store/load-reads.ts';

export const DAY_MS = 86_400_000;

export interface UsageSum extends Usage {
  readonly requests: number;
}

export const NOTHING_USED: UsageSum = { ...NO_USAGE, requests: 0 };

/** What usage is summed by. */
const KINDS = ['model', 'profile', 'root_id', 'agent_id'] as const;
type Sums<Name> = Map<Name, UsageSum>;
type DaySums = { readonly [Kind in (typeof KINDS)[number]]: Sums<PlacedUsage[Kind]> };

export function noSums(): DaySums {
  return { model: new Map(), profile: new Map(), root_id: new Map(), agent_id: new Map() };
}

/** Usage per day in UTC, kept as sums, never as rows. */
export class UsageDays {
  readonly #days = new Map<number, DaySums>();

  add(request: PlacedUsage): void {
    const day = keptIn(this.#days, Math.floor(request.started_at / DAY_MS), noSums);
    for (const kind of KINDS) addTo(day[kind], request[kind], { ...request.usage, requests: 1 });
  }

  /** Adds the sums of one day to `into`. `number` counts days since 1970. */
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

export function addSums(a: UsageSum, b: UsageSum): UsageSum {
  return { ...addUsage(a, b), requests: a.requests + b.requests };
}

function addTo(sums: Sums<string | null>, name: string | null, used: UsageSum): void {
  sums.set(name, addSums(sums.get(name) ?? NOTHING_USED, used));
}

/** Returns the `limit` largest by cost, then by tokens. Takes one pass, because a ledger may have many trees. */
export function largest<Name>(
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
