import { Poll } from '../../processes/poll.ts';
import { type Clock, SYSTEM_CLOCK } from '../../processes/waiting.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import { splitTarget } from '../../records/run/delivery.ts';
import type { Channel, ChannelLog } from '../channel.ts';
import { DeliveryTry, type TryGround } from './delivery-try.ts';
import { Lane } from './lane.ts';
import { LedgerPatience } from './ledger-patience.ts';
import type { OutboxLedger } from './outbox-ledger.ts';

const LOOK_MS = 1_000;
const UNKNOWN_LOOK_MS = 60_000;
const AT_ONCE = 8;
const AT_ONCE_PER_CHANNEL = 4;
/** Claimed for one channel and not begun: more would only keep them from other processes. */
const WAITING_PER_CHANNEL = 32;
const GRACE_MS = 5_000;
/** After the grace time: for channels to stop, and for the ledger to take back what they had. */
const LAST_MS = 3_000;

export interface OutboxOptions {
  readonly ledger: OutboxLedger;
  /** Each name once. They are closed by whoever opened them, after `stop`. */
  readonly channels: readonly Channel[];
  /** A worker whose lease somebody keeps alive: its claims hold as long. */
  readonly worker_id: string;
  readonly log: ChannelLog;
  readonly clock?: Clock;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
  /** What tries under way get when it stops, milliseconds; default 5 s. */
  readonly grace_ms?: number;
}

/**
 * Takes deliveries out of the ledger and gives them to their channels, until each is delivered or given up. Laws:
 * O1. At least once: a delivery ends only after its channel has said so; whatever goes wrong before leaves it pending in the ledger.
 * O2. A channel that hangs or fails takes its own places only: 4 of 8, and the last ones are kept for channels that have none.
 * O3. To one target one at a time, in order of creation as far as they are due at once.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #poll: Poll;
  readonly #patience: LedgerPatience;
  readonly #lanes: ReadonlyMap<string, Lane>;
  /** Claimed and not ended. */
  readonly #held = new Set<Delivery>();
  readonly #tries = new Set<DeliveryTry>();
  /** Everything that `stop` waits for. */
  readonly #work = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #unknown = new Set<string>();
  #unknown_looked_at = Number.NEGATIVE_INFINITY;
  #stopping: Promise<void> | null = null;

  constructor(options: OutboxOptions) {
    const { channels, clock = SYSTEM_CLOCK, random = Math.random, log } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#patience = new LedgerPatience(clock, random, log);
    this.#poll = new Poll(() => this.#look(), clock);
    this.#lanes = new Map(channels.map((channel) => [channel.name, new Lane(channel)]));
  }

  start(): void {
    this.wake();
  }

  /** Something may be due: it looks now. It looks every second anyway. */
  wake(): void {
    this.#poll.wake();
  }

  /**
   * Claims nothing more, lets tries under way end within the grace time, aborts the others and gives back what is not done. Resolves
   * when nothing is under way; never rejects.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#track(this.#poll.stop());
    for (const lane of this.#lanes.values())
      for (const delivery of lane.empty()) this.#giveBack(lane, delivery);
    await this.#quiet(this.#options.grace_ms ?? GRACE_MS);
    for (const one of this.#tries) one.stop();
    await this.#quiet(LAST_MS);
    this.#closing.abort();
    await Promise.all(this.#work);
  }

  async #look(): Promise<number> {
    await this.#claim();
    await this.#lookForUnknown();
    return LOOK_MS;
  }

  /** As much as can begin, until the ledger has no more of it. */
  async #claim(): Promise<void> {
    const { ledger, worker_id } = this.#options;
    for (;;) {
      const open = [...this.#lanes.values()].filter((lane) => this.#room(lane) > 0);
      if (open.length === 0) return;
      const limit = Math.min(...open.map((lane) => this.#room(lane)));
      const names = open.map(({ channel }) => channel.name);
      const held = [...this.#held].map(({ id }) => id);
      const claimed = await this.#patience.once(
        () => ledger.claimDeliveries(worker_id, this.#clock.now(), limit, names, held),
        this.#closing.signal,
      );
      const taken = (claimed ?? []).filter((delivery) => this.#take(delivery));
      this.#begin();
      if (taken.length < limit || this.#stopping !== null) return;
    }
  }

  #take(delivery: Delivery): boolean {
    const lane = this.#lanes.get(splitTarget(delivery.target).channel);
    if (lane === undefined) return false;
    this.#held.add(delivery);
    if (this.#stopping === null) lane.add(delivery);
    else this.#giveBack(lane, delivery);
    return true;
  }

  /** How many more to claim for a channel now. */
  #room(lane: Lane): number {
    if (!this.#mayBegin(lane)) return 0;
    return Math.min(AT_ONCE_PER_CHANNEL - lane.under_way, WAITING_PER_CHANNEL - lane.waiting);
  }

  /** O2. */
  #mayBegin(lane: Lane): boolean {
    const under_way = this.#tries.size;
    if (under_way >= AT_ONCE || lane.under_way >= AT_ONCE_PER_CHANNEL) return false;
    if (lane.under_way === 0) return true;
    const without = [...this.#lanes.values()].filter((other) => other.under_way === 0).length;
    return under_way + without < AT_ONCE;
  }

  /** Each channel in its turn. */
  #begin(): void {
    for (let begun = true; begun && this.#stopping === null; ) {
      begun = false;
      for (const lane of this.#lanes.values()) {
        const delivery = this.#mayBegin(lane) ? lane.begin() : null;
        if (delivery === null) continue;
        begun = true;
        this.#track(this.#try(lane, delivery));
      }
    }
  }

  async #try(lane: Lane, delivery: Delivery): Promise<void> {
    const one = new DeliveryTry(delivery, lane.channel, this.#ground());
    this.#tries.add(one);
    await one.run();
    this.#tries.delete(one);
    this.#held.delete(delivery);
    lane.ended(delivery);
    this.#begin();
    this.wake();
  }

  #giveBack(lane: Lane, delivery: Delivery): void {
    const error = delivery.error ?? 'not tried yet: the process that had it stopped';
    const one = new DeliveryTry(delivery, lane.channel, this.#ground());
    this.#track(one.giveBack(error).then(() => void this.#held.delete(delivery)));
  }

  /** What nobody here can deliver stays where it is: another process may, or the configuration may come back. */
  async #lookForUnknown(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#unknown_looked_at < UNKNOWN_LOOK_MS) return;
    const names = await this.#patience.once(
      () => this.#options.ledger.pendingChannels(),
      this.#closing.signal,
    );
    if (names === undefined) return;
    this.#unknown_looked_at = now;
    for (const channel of names) {
      if (this.#lanes.has(channel) || this.#unknown.has(channel)) continue;
      this.#unknown.add(channel);
      this.#options.log('warn', 'deliveries wait for a channel that is not configured here', { channel });
    }
  }

  #ground(): TryGround {
    const { ledger, worker_id, log } = this.#options;
    const [clock, random, patience] = [this.#clock, this.#random, this.#patience];
    return { ledger, worker_id, log, random, clock, patience, closing: this.#closing.signal };
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.then(() => this.#work.delete(work));
  }

  /** Until nothing is under way, or the limit is over. */
  async #quiet(limit_ms: number): Promise<void> {
    let cancel = () => {};
    let late = false;
    const limit = new Promise<void>((resolve) => {
      cancel = this.#clock.after(limit_ms, () => {
        late = true;
        resolve();
      });
    });
    while (this.#work.size > 0 && !late) await Promise.race([Promise.all(this.#work), limit]);
    cancel();
  }
}
