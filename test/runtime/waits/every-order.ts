import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { memoryFolder } from '../../temporary-folder.ts';
import { type Possible, World } from './ordered-world.ts';
import { ToldLedger } from './told-ledger.ts';

/** Brings a world up to where the orders part; what it returns looks at the end, when nothing can happen any more, and throws when that is wrong. */
export type Scenario = (world: World) => Promise<() => Promise<void>>;

interface Choice {
  taken: Possible;
  readonly possible: readonly Possible[];
  /** Whatever begins with one of these has been played, but for the order of what commutes ("sleep sets"). */
  readonly known: Possible[];
  /** How often from here on somebody may be made to wait. */
  readonly left: number;
}

/** Where worlds are played. */
export interface Background {
  readonly ledger: ToldLedger;
  readonly folder: string;
  close(): Promise<void>;
}

/** `database`: the URL of a ledger; default a new SQLite file, in memory where there is such a place: nothing is proved of the disk. */
export async function newGround(database?: string): Promise<Background> {
  const folder = memoryFolder('orders');
  const ledger = await ToldLedger.open(database ?? `sqlite:${join(folder, 'ledger.db')}`);
  return {
    ledger,
    folder,
    async close() {
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Bounds {
  /** Only orders in which somebody who could go on is made to wait for somebody else at most so often. Default: all orders. */
  readonly preemptions?: number;
  /** Only the first so many of these. */
  readonly first?: number;
}

/** More orders than this: the scenario is too large to be played in all of them. */
const MOST = 20_000;

/**
 * Plays a scenario in every order of its events, but for the order of events that commute; returns how many there are. Throws at the first in which
 * something is wrong, and names it: what the scenario says, or that somebody is at work, or about to be, when nothing can happen any more.
 */
export async function everyOrder(
  scenario: Scenario,
  ground: Background,
  { preemptions = Number.POSITIVE_INFINITY, first = Number.POSITIVE_INFINITY }: Bounds = {},
): Promise<number> {
  const path: Choice[] = [];
  let orders = 0;
  do {
    if (orders === MOST) throw new Error(`more than ${MOST} orders`);
    const isPlayed = await playOnce(scenario, ground, (possible, depth) => {
      const before = path[depth - 1];
      const known = before?.known.filter((one) => commute(one, before.taken)) ?? [];
      const left = preemptions - spent(path.slice(0, depth));
      const taken = path[depth]?.taken ?? fresh({ possible, known, left }, before);
      if (taken === undefined) return null;
      path[depth] ??= { taken, possible, known, left };
      const next = possible.find(({ name }) => name === taken.name);
      if (next === undefined)
        throw new Error(
          `not the same again: ${taken.name} cannot happen, only ${possible.map(({ name }) => name)}`,
        );
      return next;
    });
    if (isPlayed) orders += 1;
  } while (orders < first && turn(path));
  return orders;
}

/** To the next order that was not played; false when there is none. */
function turn(path: Choice[]): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.known.push(last.taken);
    const next = fresh(last, path.at(-2));
    if (next !== undefined) {
      last.taken = next;
      return true;
    }
    path.pop();
  }
  return false;
}

function fresh(
  { possible, known, left }: Pick<Choice, 'possible' | 'known' | 'left'>,
  before: Choice | undefined,
): Possible | undefined {
  const goes_on = possible.find(({ owner }) => owner === before?.taken.owner);
  const open = left > 0 || goes_on === undefined ? possible : [goes_on];
  const first = goes_on === undefined ? open : [goes_on, ...open];
  return first.find(({ name }) => !known.some((one) => one.name === name));
}

function spent(path: readonly Choice[]): number {
  return path.filter(({ taken, possible }, depth) => {
    const owner = path[depth - 1]?.taken.owner;
    return owner !== taken.owner && possible.some((one) => one.owner === owner);
  }).length;
}

/** As `choose` says, choice by choice. False: it chose nothing, since another order stands for this one. */
async function playOnce(
  scenario: Scenario,
  { ledger, folder }: Background,
  choose: (possible: readonly Possible[], depth: number) => Possible | null,
): Promise<boolean> {
  const world = new World(ledger, folder);
  let depth = 0;
  try {
    const look = await scenario(world);
    const end = await world.run((possible) => {
      depth += 1;
      return choose(possible, depth - 1);
    });
    if (end === 'known') return false;
    await world.assertRest();
    await look();
    return true;
  } catch (error) {
    throw new Error(`in this order: ${world.trace.join(' → ')}`, { cause: error });
  } finally {
    await world.close();
  }
}

/** Whether it makes no difference which of the two comes first. */
function commute(a: Possible, b: Possible): boolean {
  if (a.process !== null && a.process === b.process) return false;
  return a.ledger === null || b.ledger === null || (a.ledger === 'reads' && b.ledger === 'reads');
}
