import type { Delivery } from '../../records/run/delivery.ts';
import type { Channel } from '../channel.ts';

/** What was claimed for one channel. Waits in order of creation; to one target there is one try at a time. */
export class Lane {
  readonly channel: Channel;
  readonly #waiting: Delivery[] = [];
  /** Targets of the tries under way. */
  readonly #busy = new Set<string>();

  constructor(channel: Channel) {
    this.channel = channel;
  }

  /** Tries that have begun and not ended. */
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

  /** The oldest whose target is free; its target is busy until `ended`. */
  begin(): Delivery | null {
    const at = this.#waiting.findIndex((one) => !this.#busy.has(one.target));
    const [delivery] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (delivery === undefined) return null;
    this.#busy.add(delivery.target);
    return delivery;
  }

  ended(delivery: Delivery): void {
    this.#busy.delete(delivery.target);
  }

  /** Everything that has not begun; it is not held any more. */
  empty(): Delivery[] {
    return this.#waiting.splice(0);
  }
}
