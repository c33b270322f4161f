import type { Clock } from '../../processes/waiting.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import type { DeliveryEnd } from '../../store/outbox-ledger.ts';
import type { Channel, ChannelLog, DeliverResult, Parcel } from '../channel.ts';
import { type Composed, composeParcel } from './compose-parcel.ts';
import { endOfTry } from './end-of-try.ts';
import type { LedgerPatience } from './ledger-patience.ts';
import type { OutboxLedger } from './outbox-ledger.ts';

/** Longer than any channel's own limit: what breaks that part of its contract holds its place no longer than this. */
const TRY_MAX_MS = 10 * 60_000;
/** A channel that was told to stop and does not is not waited for any longer than this. */
const DEAF_MS = 2_000;

export interface TryGround {
  readonly ledger: OutboxLedger;
  readonly worker_id: string;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: ChannelLog;
  readonly patience: LedgerPatience;
  /** Aborts when the ledger is not waited for any more. */
  readonly closing: AbortSignal;
}

/** One try of one claimed delivery, from what the ledger says now to the end that is kept there. */
export class DeliveryTry {
  readonly #delivery: Delivery;
  readonly #channel: Channel;
  readonly #ground: TryGround;
  readonly #cut = new AbortController();
  #stopped = false;
  #lost = false;

  constructor(delivery: Delivery, channel: Channel, ground: TryGround) {
    this.#delivery = delivery;
    this.#channel = channel;
    this.#ground = ground;
  }

  /** Never rejects. What could not be kept in the ledger before `closing` is claimed by somebody else later: the same id tells the repeat. */
  async run(): Promise<void> {
    const { ledger, patience, closing, random, clock } = this.#ground;
    const composed = await patience.ask(() => composeParcel(this.#delivery, ledger), closing);
    if (composed === undefined) return;
    const result = await this.#outcome(composed);
    if (this.#lost) return;
    const end: DeliveryEnd =
      this.#stopped && result.type === 'retry'
        ? { status: 'pending', error: result.error, next_at: clock.now() }
        : endOfTry(this.#delivery, result, clock.now(), random);
    await this.#keep(end);
  }

  /** The process stops: whatever is not done soon is given back. */
  stop(): void {
    this.#stopped = true;
    this.#cut.abort();
  }

  /** What was claimed and never begun, or cut short before anything was sent. */
  async giveBack(error: string): Promise<void> {
    await this.#keep({ status: 'pending', error, next_at: this.#ground.clock.now() });
  }

  async #outcome(composed: Composed): Promise<DeliverResult> {
    if (composed.type === 'settled') return composed.result;
    if (this.#stopped) return { type: 'retry', error: 'stopped before it was sent', after_ms: null };
    return this.#deliver(composed.parcel);
  }

  async #deliver(parcel: Parcel): Promise<DeliverResult> {
    const { clock } = this.#ground;
    const cancelLimit = clock.after(TRY_MAX_MS, () => this.#cut.abort());
    const deaf = this.#deaf();
    const context = { signal: this.#cut.signal, saveProgress: (progress: string) => this.#note(progress) };
    try {
      return await Promise.race([this.#channel.deliver(parcel, context), deaf.result]);
    } catch (error) {
      const { id } = this.#delivery;
      const name = error instanceof Error ? error.name : typeof error;
      this.#ground.log('error', 'a channel broke its contract and threw', {
        channel: this.#channel.name,
        id,
        error: name,
      });
      return { type: 'retry', error: `the channel "${this.#channel.name}" broke off`, after_ms: null };
    } finally {
      cancelLimit();
      deaf.cancel();
    }
  }

  /** Answers in the channel's place a while after it was told to stop. */
  #deaf(): { readonly result: Promise<DeliverResult>; readonly cancel: () => void } {
    let cancel = () => {};
    const error = `the channel "${this.#channel.name}" did not stop when it was told to`;
    const result = new Promise<DeliverResult>((resolve) => {
      this.#cut.signal.addEventListener('abort', () => {
        cancel = this.#ground.clock.after(DEAF_MS, () => resolve({ type: 'retry', error, after_ms: null }));
      });
    });
    return { result, cancel: () => cancel() };
  }

  async #note(progress: string): Promise<void> {
    const { ledger, worker_id, patience } = this.#ground;
    const { id, attempts } = this.#delivery;
    const kept = await patience.ask(
      () => ledger.noteDelivery(id, worker_id, attempts, progress),
      this.#cut.signal,
    );
    if (kept === true) return;
    if (kept === false) this.#lose();
    throw new Error(kept === false ? 'the claim was lost' : 'stopped before the progress was kept');
  }

  async #keep(end: DeliveryEnd): Promise<void> {
    const { ledger, worker_id, patience, closing, log } = this.#ground;
    const { id, attempts, target } = this.#delivery;
    const kept = await patience.ask(() => ledger.endDelivery(id, worker_id, attempts, end), closing);
    if (kept === false) return this.#lose();
    if (kept === undefined) log('warn', 'the end of a delivery was not kept; it will be tried again', { id });
    else if (end.status === 'failed') log('warn', 'a delivery has failed', { id, target, error: end.error });
    else log('debug', `a delivery is ${end.status}`, { id, target });
  }

  /** Somebody else has it now. */
  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#ground.log('warn', 'the claim of a delivery was lost', { id: this.#delivery.id });
    this.#cut.abort();
  }
}
