import type { Stop } from '../../src/runtime/runtime-clock.ts';

/** Owner of events: those of a dead owner never happen, those of a paused one happen after the pause. */
export interface Actor {
  readonly name: string;
  alive: boolean;
  /** Virtual milliseconds. */
  paused_until: number;
}

interface Due {
  at: number;
  readonly number: number;
  readonly actor: Actor | null;
  readonly ring: () => void;
  stopped: boolean;
}

/** Maximum events at one instant; more mean an endless loop in which time does not advance. */
const MOST_AT_ONCE = 50_000;

/** The one clock and scheduler of a simulation: events run in order of time, and at equal times in order of scheduling. */
export class VirtualTime {
  /** Milliseconds since the epoch, as in the real world. */
  now = Date.UTC(2026, 0, 1);
  events = 0;
  readonly #due: Due[] = [];
  #number = 0;
  #at_once = 0;

  /** Calls `ring` after `ms`, rounded up to whole milliseconds; `actor` null: an event of the world, which never dies or pauses. */
  after(ms: number, actor: Actor | null, ring: () => void): Stop {
    this.#number += 1;
    const due: Due = {
      at: this.now + Math.max(0, Math.ceil(ms)),
      number: this.#number,
      actor,
      ring,
      stopped: false,
    };
    this.#push(due);
    return () => {
      due.stopped = true;
    };
  }

  /** Advances time until `done` holds (returns true) or until `until` (returns false). */
  async run(done: () => boolean, until: number): Promise<boolean> {
    while (!done()) {
      const next = this.#pop();
      if (next === undefined || next.at > until) {
        if (next !== undefined) this.#push(next);
        this.now = until;
        return false;
      }
      if (next.stopped || next.actor?.alive === false) continue;
      if (next.actor !== null && next.actor.paused_until > next.at) {
        next.at = next.actor.paused_until;
        this.#push(next);
        continue;
      }
      this.#at_once = next.at > this.now ? 0 : this.#at_once + 1;
      if (this.#at_once > MOST_AT_ONCE)
        throw new Error('time does not go on: too many events at one instant');
      this.now = next.at;
      this.events += 1;
      next.ring();
      // All promises settled by this event run their callbacks before the next event.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  }

  /** Ends the pause of an actor: its postponed events happen now. */
  awaken(actor: Actor): void {
    const all = this.#due.splice(0);
    for (const due of all) {
      if (due.actor === actor && due.at === actor.paused_until) due.at = Math.min(due.at, this.now);
      this.#push(due);
    }
    actor.paused_until = Math.min(actor.paused_until, this.now);
  }

  #push(due: Due): void {
    const heap = this.#due;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(heap[at] as Due, heap[above] as Due)) return;
      swap(heap, at, above);
      at = above;
    }
  }

  #pop(): Due | undefined {
    const heap = this.#due;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && isBefore(heap[left] as Due, heap[least] as Due)) least = left;
      if (right < heap.length && isBefore(heap[right] as Due, heap[least] as Due)) least = right;
      if (least === at) return first;
      swap(heap, at, least);
      at = least;
    }
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.number < b.number);
}

function swap(heap: Due[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b] as Due, heap[a] as Due];
}
