import type { Channel, DeliverContext, DeliverResult, Parcel } from '../../src/channels/channel.ts';
import { Outbox, type OutboxOptions } from '../../src/channels/outbox/outbox.ts';
import type { NewDelivery } from '../../src/records/run/delivery.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryLedger } from './memory-ledger.ts';

export type Behaviour = (parcel: Parcel, context: DeliverContext) => DeliverResult | Promise<DeliverResult>;

/** A channel that behaves as the test says, and records the parcels it was given. */
export interface StageChannel extends Channel {
  readonly begun: Parcel[];
  behave: Behaviour;
  /** Deliveries in progress; `most` is their maximum so far. */
  under_way: number;
  most: number;
}

export const DELIVERED: DeliverResult = { type: 'delivered' };
export const LATER: DeliverResult = { type: 'retry', error: 'not now', after_ms: null };

/** Hangs until its signal aborts. */
export const hang: Behaviour = (_parcel, { signal }) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ ...LATER, error: 'stopped' }), { once: true });
  });

export function newChannel(name: string, behave: Behaviour = () => DELIVERED): StageChannel {
  const channel: StageChannel = {
    name,
    begun: [],
    behave,
    under_way: 0,
    most: 0,
    check: () => null,
    async deliver(parcel, context) {
      channel.begun.push(parcel);
      channel.under_way += 1;
      channel.most = Math.max(channel.most, channel.under_way);
      try {
        return await channel.behave(parcel, context);
      } finally {
        channel.under_way -= 1;
      }
    },
    close: async () => undefined,
  };
  return channel;
}

export interface OutboxStage {
  readonly clock: ManualClock;
  readonly ledger: MemoryLedger;
  readonly logged: { readonly level: string; readonly text: string; readonly fields: unknown }[];
  /** Enters a delivery, by default a reply, and returns its id. */
  enter(target: string, over?: Partial<NewDelivery>): string;
  open(channels: readonly Channel[], over?: Partial<OutboxOptions>): Outbox;
  /** Stops the outbox, and advances the clock by the time that this may take. */
  stop(outbox: Outbox): Promise<void>;
  warnings(): string[];
}

/** An outbox on an in-memory ledger, with a manual clock. */
export function outboxStage(): OutboxStage {
  const clock = new ManualClock();
  const ledger = new MemoryLedger();
  const logged: { level: string; text: string; fields: unknown }[] = [];
  let entered = 0;
  return {
    clock,
    ledger,
    logged,
    enter(target, over = {}) {
      entered += 1;
      const id = over.id ?? `reply-${entered}-0`;
      const common = { id, kind: 'reply', target, root_id: 'root', agent_id: 'agent', about: null } as const;
      ledger.enter({ ...common, body: `text ${entered}`, created_at: clock.now(), ...over });
      return id;
    },
    open: (channels, over = {}) =>
      new Outbox({
        ledger,
        channels,
        worker_id: 'w1',
        holdsLease: () => true,
        log: (level, text, fields) => logged.push({ level, text, fields }),
        clock,
        random: () => 0.5,
        ...over,
      }),
    stop: async (outbox) => {
      const stopped = outbox.stop();
      await clock.pass(10_000);
      await stopped;
    },
    warnings: () => logged.flatMap(({ level, text }) => (level === 'warn' ? [text] : [])),
  };
}
