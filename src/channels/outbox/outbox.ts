import { setImmediate as soon } from 'node:timers/promises';
import { Poll } from '../../processes/poll.ts';
import { type Clock, SYSTEM_CLOCK } from '../../processes/waiting.ts';
import { type Delivery, splitTarget } from '../../records/run/delivery.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { Channel, ChannelLog } from '../channel.ts';
import { DeliveryTry, type TryContext } from './delivery-try.ts';
import { type DeliveryLedger, LedgerRetry } from './outage-retry.ts';

/** The outbox: passes deliveries of the ledger to channels. */

const POLL_MS = 1_000;
const UNKNOWN_POLL_MS = 60_000;
const AT_ONCE = 8;
const AT_ONCE_PER_CHANNEL = 4;
/** Maximum deliveries claimed for one channel but not begun; more would only be withheld from other processes. */
const WAITING_PER_CHANNEL = 32;
const GRACE_MS = 5_000;
/** Time after the grace time for channels to stop and for claims to be released. */
const RELEASE_MS = 3_000;

export interface OutboxOptions {
  readonly ledger: DeliveryLedger;
  /** Channels with distinct names. The caller closes them, after `stop`. */
  readonly channels: readonly Channel[];
  /** Id of a worker whose lease is kept alive; its claims hold as long as the lease. */
  readonly worker_id: string;
  /** `RuntimeFace.holdsLease`. */
  readonly holdsLease: () => boolean;
  readonly log: ChannelLog;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** How long tries in progress may continue after `stop`, milliseconds; default 5 s. */
  readonly grace_ms?: number;
}

/**
 * Claims deliveries from the ledger and passes them to their channels until each is delivered or given up. Laws:
 * O1. At least once: a delivery ends only after its channel has said so; on any failure before, it stays pending in the ledger.
 * O2. A channel that hangs or fails takes at most 4 of 8 places, and the last places are reserved for channels that have none.
 * O3. One delivery at a time for each target, in order of creation among those that are due.
 * O4. Without its lease it claims and begins nothing, because another process may have its claims.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #poll: Poll;
  readonly #retry: LedgerRetry;
  readonly #queues: ReadonlyMap<string, ChannelQueue>;
  /** Deliveries claimed and not ended. */
  readonly #held = new Set<Delivery>();
  readonly #tries = new Set<DeliveryTry>();
  /** Everything that `stop` waits for. */
  readonly #work = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #unknown = new Set<string>();
  #unknown_polled_at = Number.NEGATIVE_INFINITY;
  #stopping: Promise<void> | null = null;

  constructor(options: OutboxOptions) {
    const { channels, clock = SYSTEM_CLOCK, random = Math.random, log } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#retry = new LedgerRetry(clock, random, log);
    this.#poll = new Poll(() => this.#look(), clock);
    this.#queues = new Map(channels.map((channel) => [channel.name, new ChannelQueue(channel)]));
  }

  /** Begins to poll; if it has begun, claims due deliveries now rather than at the next poll. */
  wake(): void {
    this.#poll.wake();
  }

  /**
   * Claims nothing more, lets tries in progress end within the grace time, then aborts them and releases their claims. Resolves when nothing is in
   * progress; never rejects.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#track(this.#poll.stop());
    for (const queue of this.#queues.values())
      for (const delivery of queue.drain()) this.#release(queue, delivery);
    await this.#quiet(this.#options.grace_ms ?? GRACE_MS);
    for (const one of this.#tries) one.stop();
    await this.#quiet(RELEASE_MS);
    this.#closing.abort();
    await Promise.all(this.#work);
  }

  async #look(): Promise<number> {
    await this.#claim();
    await this.#warnOfUnknown();
    return POLL_MS;
  }

  /** Claims as many deliveries as can begin, until nothing more is due. */
  async #claim(): Promise<void> {
    const { ledger, worker_id } = this.#options;
    for (;;) {
      // Channels and SQLite may answer without I/O: timers, HTTP and heartbeats get their turn.
      await soon();
      if (!this.#options.holdsLease()) return this.#forgetWaiting();
      const free = [...this.#queues.values()].filter((queue) => this.#room(queue) > 0);
      if (free.length === 0) return;
      const limit = Math.min(...free.map((queue) => this.#room(queue)));
      const names = free.map(({ channel }) => channel.name);
      const held = [...this.#held].map(({ id }) => id);
      const claimed = await this.#retry.once(
        () => ledger.claimDeliveries(worker_id, this.#clock.now(), limit, names, held),
        this.#closing.signal,
      );
      const taken = (claimed ?? []).filter((delivery) => this.#take(delivery));
      this.#begin();
      if (taken.length < limit || this.#stopping !== null) return;
    }
  }

  /** Claims that others may have by now; those that nobody has taken are claimed again. */
  #forgetWaiting(): void {
    for (const queue of this.#queues.values())
      for (const delivery of queue.drain()) this.#held.delete(delivery);
  }

  #take(delivery: Delivery): boolean {
    const queue = this.#queues.get(splitTarget(delivery.target).channel);
    if (queue === undefined) return false;
    this.#held.add(delivery);
    if (this.#stopping === null) queue.add(delivery);
    else this.#release(queue, delivery);
    return true;
  }

  /** How many more deliveries may be claimed for a channel now. */
  #room(queue: ChannelQueue): number {
    if (!this.#mayBegin(queue)) return 0;
    return Math.min(AT_ONCE_PER_CHANNEL - queue.under_way, WAITING_PER_CHANNEL - queue.waiting);
  }

  /** O2. */
  #mayBegin(queue: ChannelQueue): boolean {
    const under_way = this.#tries.size;
    if (under_way >= AT_ONCE || queue.under_way >= AT_ONCE_PER_CHANNEL) return false;
    if (queue.under_way === 0) return true;
    const without = [...this.#queues.values()].filter((other) => other.under_way === 0).length;
    return under_way + without < AT_ONCE;
  }

  /** Round-robin over the channels. */
  #begin(): void {
    for (let begun = true; begun && this.#stopping === null; ) {
      begun = false;
      for (const queue of this.#queues.values()) {
        const delivery = this.#mayBegin(queue) ? queue.next() : null;
        if (delivery === null) continue;
        begun = true;
        this.#track(this.#try(queue, delivery));
      }
    }
  }

  async #try(queue: ChannelQueue, delivery: Delivery): Promise<void> {
    const one = new DeliveryTry(delivery, queue.channel, this.#context());
    this.#tries.add(one);
    await one.run();
    this.#tries.delete(one);
    this.#held.delete(delivery);
    queue.ended(delivery);
    this.#begin();
    this.wake();
  }

  #release(queue: ChannelQueue, delivery: Delivery): void {
    const error = delivery.error ?? 'not tried yet: the process that had it stopped';
    const one = new DeliveryTry(delivery, queue.channel, this.#context());
    this.#track(one.release(error).then(() => void this.#held.delete(delivery)));
  }

  /** Deliveries of a channel that is not configured here stay pending: another process may have it, or the configuration may return. */
  async #warnOfUnknown(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#unknown_polled_at < UNKNOWN_POLL_MS) return;
    const names = await this.#retry.once(() => this.#options.ledger.pendingChannels(), this.#closing.signal);
    if (names === undefined) return;
    this.#unknown_polled_at = now;
    for (const channel of names) {
      if (this.#queues.has(channel) || this.#unknown.has(channel)) continue;
      this.#unknown.add(channel);
      this.#options.log('warn', 'deliveries wait for a channel that is not configured here', { channel });
    }
  }

  #context(): TryContext {
    const { ledger, worker_id, holdsLease, log } = this.#options;
    const [clock, random, retry] = [this.#clock, this.#random, this.#retry];
    return { ledger, worker_id, holdsLease, log, random, clock, retry, closing: this.#closing.signal };
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.then(() => this.#work.delete(work));
  }

  /** Resolves when nothing is in progress, or after the limit. */
  async #quiet(limit_ms: number): Promise<void> {
    const late = new AbortController();
    const cancel = this.#clock.after(limit_ms, () => late.abort());
    while (this.#work.size > 0 && !late.signal.aborted)
      await unlessAborted(Promise.all(this.#work), late.signal, () => undefined);
    cancel();
  }
}

/** Claimed deliveries of one channel: tried in order of creation, one at a time for each target. */
class ChannelQueue {
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

  drain(): Delivery[] {
    return this.#waiting.splice(0);
  }
}
