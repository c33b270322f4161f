import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { memoryFolder } from '../../temporary-folder.ts';
import { type Possible, World } from './ordered-world.ts';
import { ToldLedger } from './told-ledger.ts';

/** Brings a world to the point from which orders vary; returns a check that runs when no event is possible any more and throws if the end is wrong. */
export type Scenario = (world: World) => Promise<() => Promise<void>>;

interface Choice {
  taken: Possible;
  readonly possible: readonly Possible[];
  /** Sleep set: every order that continues with one of these has been played, up to the order of commuting events. */
  readonly known: Possible[];
  /** Number of preemptions that are still allowed from here on. */
  readonly left: number;
}

/** The ledger and the folder in which worlds are played. */
export interface Background {
  readonly ledger: ToldLedger;
  readonly folder: string;
  close(): Promise<void>;
}

/** `database`: URL of a ledger; default a new SQLite file, on a memory file system if there is one: these tests prove nothing about the disk. */
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
  /** Maximum number of preemptions in an order: an owner that could continue is made to wait for another one. Default: all orders. */
  readonly preemptions?: number;
  /** Maximum number of orders to play; default all. */
  readonly first?: number;
}

/** Upper bound of the orders of a scenario; with more it is too large to be played in all of them. */
const MOST = 20_000;

/**
 * Plays a scenario in every order of its events, up to the order of commuting events, and returns the number of orders. Throws at the first order that fails,
 * and names it: the scenario's own check fails, or an agent is at work or has unread mail although no event is possible any more.
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

/** Advances to the next order that was not played; returns false if there is none. */
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

/** Plays one order, as `choose` decides. Returns false if `choose` returned null, because an equivalent order covers this one. */
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

/** Whether the order of the two makes no difference. */
function commute(a: Possible, b: Possible): boolean {
  if (a.process !== null && a.process === b.process) return false;
  return a.ledger === null || b.ledger === null || (a.ledger === 'reads' && b.ledger === 'reads');
}
