import type { Random } from '../../test/sim/random.ts';
import { HITS, type Point } from './kill-points.ts';
import type { KillOrder } from './killer.ts';

const MOST_SKIPPED = 2;
const MOST_PATIENCE = 14;
/** Takeovers offer few chances: a leader that lets them pass would not die at all. */
const MOST_PATIENCE_IN_TAKEOVER = 3;
/** Maximum delay of a kill after the beginning of a commit, which takes some milliseconds. */
const MOST_DELAY_US = 4_000;

/** The kills still to be made on one database: points in equal parts, targets at random. */
export class OrderBook {
  readonly #random: Random;
  /** For each point, the number of kills that are wanted, and of those that have fired or are ordered. */
  readonly #points: Map<Point, { readonly wanted: number; taken: number }>;

  constructor(kills: number, points: readonly Point[], random: Random) {
    this.#random = random;
    const part = (place: number) => Math.ceil((kills - place) / points.length);
    this.#points = new Map(points.map((point, place) => [point, { wanted: part(place), taken: 0 }]));
  }

  /** Kills not yet ordered. */
  get left(): number {
    return [...this.#points.values()].reduce(
      (sum, { wanted, taken }) => sum + Math.max(0, wanted - taken),
      0,
    );
  }

  /**
   * The next order; null when all were made. Give back an order that was not carried out. The first leader of a run has
   * nothing to take over, so it may get one more kill at another point than was wanted.
   */
  next(is_first: boolean): KillOrder | null {
    if (this.left === 0) return null;
    const [first] = [...this.#points]
      .filter(([point]) => point !== 'in-takeover' || !is_first)
      .toSorted(([, a], [, b]) => b.wanted - b.taken - (a.wanted - a.taken));
    if (first === undefined) return null;
    const [point, count] = first;
    count.taken += 1;
    const random = this.#random;
    return {
      point,
      hit: random.pick(HITS[point]),
      skip: random.between(0, MOST_SKIPPED),
      patience: random.between(0, point === 'in-takeover' ? MOST_PATIENCE_IN_TAKEOVER : MOST_PATIENCE),
      delay_us: random.between(0, MOST_DELAY_US),
    };
  }

  giveBack({ point }: KillOrder): void {
    const count = this.#points.get(point);
    if (count !== undefined) count.taken -= 1;
  }
}
