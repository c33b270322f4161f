import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../../src/store/open-store.ts';
import { type Possible, World } from './ordered-world.ts';

/** Brings a world up to where the orders part; what it returns looks at the end, when nothing can happen any more, and throws when that is wrong. */
export type Scenario = (world: World) => Promise<() => Promise<void>>;

interface Choice {
  taken: Possible;
  readonly possible: readonly Possible[];
  /** Whatever begins with one of these has been played, but for the order of what commutes ("sleep sets"). */
  readonly known: Possible[];
}

/**
 * Plays a scenario in every order of its events, but for the order of events that commute; returns how many there are. Throws at the first in which
 * something is wrong, and names it: what the scenario says, or that somebody is at work, or about to be, when nothing can happen any more.
 */
export async function everyOrder(scenario: Scenario, most = 5_000): Promise<number> {
  // In memory where there is such a place: nothing is proved of the disk.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coppice-orders-'));
  const file = join(folder, 'ledger.db');
  const store = await openStore(file);
  const rows = new DatabaseSync(file, { readOnly: true });
  try {
    const path: Choice[] = [];
    let orders = 0;
    do {
      if (orders === most) throw new Error(`more than ${most} orders`);
      if (await playOnce(scenario, new World(store, folder, rows), path)) orders += 1;
    } while (turn(path));
    return orders;
  } finally {
    rows.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** To the next order that was not played; false when there is none. */
function turn(path: Choice[]): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.known.push(last.taken);
    const next = fresh(last);
    if (next !== undefined) {
      last.taken = next;
      return true;
    }
    path.pop();
  }
  return false;
}

function fresh({ possible, known }: Pick<Choice, 'possible' | 'known'>): Possible | undefined {
  return possible.find(({ name }) => !known.some((one) => one.name === name));
}

/** The choices of `path`, then others, which are added to it. False: another order stands for this one. */
async function playOnce(scenario: Scenario, world: World, path: Choice[]): Promise<boolean> {
  try {
    const look = await scenario(world);
    let depth = 0;
    const end = await world.run((possible) => {
      const before = path[depth - 1];
      const known = before?.known.filter((one) => commute(one, before.taken)) ?? [];
      const taken = path[depth]?.taken ?? fresh({ possible, known });
      if (taken === undefined) return null;
      path[depth] ??= { taken, possible, known };
      depth += 1;
      return possible.find(({ name }) => name === taken.name) as Possible;
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
