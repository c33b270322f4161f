import type { Delivery } from '../../records/run/delivery.ts';
import type { Channel } from '../channel.ts';

/** Claimed deliveries of one channel: tried in order of creation, one at a time for each target. */
export class ChannelQueue {
  readonly channel: Channel;
  readonly #waiting: Delivery[] = [];
  /** Targets of the tries in progress. */
  readonly #busy = new Set<string>();

  constructor(channel: Channel) {
    this.channel = channel;
  }

  get under_way(): number {
    return this.#busy.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(delivery: Delivery): void {
    const after = this.#waiting.findLastIndex((one) => one.created_at <= delivery.created_at);
    this.#waiting.splice(after + 1, 0, delivery);
  }

  /** Takes the oldest delivery whose target is free; the target is busy until `ended` is called. */
  next(): Delivery | null {
    const at = this.#waiting.findIndex((one) => !this.#busy.has(one.target));
    const [delivery] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (delivery === undefined) return null;
    this.#busy.add(delivery.target);
    return delivery;
  }

  ended(delivery: Delivery): void {
    this.#busy.delete(delivery.target);
  }

  /** Removes and returns all waiting deliveries. */
  drain(): Delivery[] {
    return this.#waiting.splice(0);
  }
}
