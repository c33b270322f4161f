import { addUsage, NO_USAGE, type Usage } from '../../records/agent/usage.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { PlacedUsage } from '../../store/load-reads.ts';

export const DAY_MS = 86_400_000;

export interface UsageSum extends Usage {
  readonly requests: number;
}

export const NOTHING_USED: UsageSum = { ...NO_USAGE, requests: 0 };

type Sums<Name> = Map<Name, UsageSum>;

interface DaySums {
  readonly models: Sums<string>;
  readonly profiles: Sums<string | null>;
  /** `trees` by root id, `agents` by id. */
  readonly trees: Sums<string>;
  readonly agents: Sums<string>;
}

/** Usage per day in UTC, kept as sums, never as rows. */
export class UsageDays {
  readonly #days = new Map<number, DaySums>();

  add({ started_at, model, profile, root_id, agent_id, usage }: PlacedUsage): void {
    const number = Math.floor(started_at / DAY_MS);
    const day = keptIn(this.#days, number, () => ({
      models: new Map(),
      profiles: new Map(),
      trees: new Map(),
      agents: new Map(),
    }));
    const used = { ...usage, requests: 1 };
    addTo(day.models, model, used);
    addTo(day.profiles, profile, used);
    addTo(day.trees, root_id, used);
    addTo(day.agents, agent_id, used);
  }

  /** Adds the sums of one day to `into`. `number` counts days since 1970. */
  addDayTo(number: number, into: DaySums): void {
    const day = this.#days.get(number);
    if (day === undefined) return;
    for (const [model, used] of day.models) addTo(into.models, model, used);
    for (const [profile, used] of day.profiles) addTo(into.profiles, profile, used);
    for (const [root_id, used] of day.trees) addTo(into.trees, root_id, used);
    for (const [agent_id, used] of day.agents) addTo(into.agents, agent_id, used);
  }

  totalOf(number: number): UsageSum {
    return [...(this.#days.get(number)?.models.values() ?? [])].reduce(addSums, NOTHING_USED);
  }

  forgetBefore(number: number): void {
    for (const day of this.#days.keys()) if (day < number) this.#days.delete(day);
  }
}

export function addSums(a: UsageSum, b: UsageSum): UsageSum {
  return { ...addUsage(a, b), requests: a.requests + b.requests };
}

function addTo<Name>(sums: Sums<Name>, name: Name, used: UsageSum): void {
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
