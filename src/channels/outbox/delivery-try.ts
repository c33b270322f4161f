import { backOff, type Clock } from '../../processes/waiting.ts';
import type { Delivery } from '../../records/run/delivery.ts';
import { counted } from '../../records/text/text.ts';
import type { DeliveryEnd } from '../../store/outbox-ledger.ts';
import type { Channel, ChannelLog, DeliverResult, Parcel } from '../channel.ts';
import { type Composed, composeParcel } from './compose-parcel.ts';
import type { DeliveryLedger, LedgerRetry } from './outage-retry.ts';

/** Timeout of a try, longer than any channel's own: frees the slot of a channel that breaks its contract. */
const TRY_MAX_MS = 11 * 60_000;
/** How long a channel may take to settle after its signal aborts. */
const ABORT_GRACE_MS = 2_000;
const BACK_OFF = { base_ms: 1_000, max_ms: 5 * 60_000 };
const TRIES_MAX = 50;
const AGE_MAX_MS = 24 * 60 * 60_000;

export interface TryContext {
  readonly ledger: DeliveryLedger;
  readonly worker_id: string;
  readonly holdsLease: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: ChannelLog;
  readonly retry: LedgerRetry;
  /** Aborts at the end of `Outbox.stop`, when pending queries to the ledger are abandoned. */
  readonly closing: AbortSignal;
}

/** One try to deliver one claimed delivery: composes the parcel, passes it to the channel, and records the outcome in the ledger. */
export class DeliveryTry {
  readonly #delivery: Delivery;
  readonly #channel: Channel;
  readonly #context: TryContext;
  readonly #cut = new AbortController();
  #stopped = false;
  #lost = false;

  constructor(delivery: Delivery, channel: Channel, context: TryContext) {
    this.#delivery = delivery;
    this.#channel = channel;
    this.#context = context;
  }

  /** Never rejects. If the outcome cannot be recorded before `closing` aborts, the delivery is tried again later, with the same id. */
  async run(): Promise<void> {
    const { ledger, retry, closing, random, clock, holdsLease } = this.#context;
    const composed = await retry.untilAnswered(() => composeParcel(this.#delivery, ledger), closing);
    // Another worker may have the claim.
    if (composed === undefined || !holdsLease()) return;
    const result = await this.#outcome(composed);
    if (this.#lost) return;
    const end: DeliveryEnd =
      this.#stopped && result.type === 'retry'
        ? { status: 'pending', error: result.error, next_at: clock.now() }
        : endOfTry(this.#delivery, result, clock.now(), random);
    await this.#record(end);
  }

  /** Called when the process stops: aborts the channel, and releases the claim at once if the try ends with `retry`. */
  stop(): void {
    this.#stopped = true;
    this.#cut.abort();
  }

  /** Releases a claim that was not tried. */
  async release(error: string): Promise<void> {
    await this.#record({ status: 'pending', error, next_at: this.#context.clock.now() });
  }

  async #outcome(composed: Composed): Promise<DeliverResult> {
    if (composed.type === 'settled') return composed.result;
    if (this.#stopped) return { type: 'retry', error: 'stopped before it was sent', after_ms: null };
    return this.#deliver(composed.parcel);
  }

  async #deliver(parcel: Parcel): Promise<DeliverResult> {
    const { clock } = this.#context;
    const cancelLimit = clock.after(TRY_MAX_MS, () => this.#cut.abort());
    const unheeded = this.#unheededAbort();
    const context = {
      signal: this.#cut.signal,
      saveProgress: (progress: string) => this.#saveProgress(progress),
    };
    try {
      return await Promise.race([this.#channel.deliver(parcel, context), unheeded.result]);
    } catch (error) {
      const { id } = this.#delivery;
      const name = error instanceof Error ? error.name : typeof error;
      this.#context.log('error', 'a channel broke its contract and threw', {
        channel: this.#channel.name,
        id,
        error: name,
      });
      return {
        type: 'retry',
        error: `the channel "${this.#channel.name}" failed unexpectedly`,
        after_ms: null,
      };
    } finally {
      cancelLimit();
      unheeded.cancel();
    }
  }

  /** Resolves to `retry` if the channel has not settled within `ABORT_GRACE_MS` after its signal aborted. */
  #unheededAbort(): { readonly result: Promise<DeliverResult>; readonly cancel: () => void } {
    let cancel = () => {};
    const error = `the channel "${this.#channel.name}" did not stop when it was told to`;
    const result = new Promise<DeliverResult>((resolve) => {
      this.#cut.signal.addEventListener('abort', () => {
        cancel = this.#context.clock.after(ABORT_GRACE_MS, () =>
          resolve({ type: 'retry', error, after_ms: null }),
        );
      });
    });
    return { result, cancel: () => cancel() };
  }

  async #saveProgress(progress: string): Promise<void> {
    const { ledger, worker_id, retry } = this.#context;
    const { id, attempts } = this.#delivery;
    const kept = await retry.untilAnswered(
      () => ledger.noteDelivery(id, worker_id, attempts, progress),
      this.#cut.signal,
    );
    if (kept === true) return;
    if (kept === false) this.#loseClaim();
    throw new Error(kept === false ? 'the claim was lost' : 'stopped before the progress was kept');
  }

  async #record(end: DeliveryEnd): Promise<void> {
    const { ledger, worker_id, retry, closing, log } = this.#context;
    const { id, attempts, target } = this.#delivery;
    const kept = await retry.untilAnswered(() => ledger.endDelivery(id, worker_id, attempts, end), closing);
    if (kept === false) return this.#loseClaim();
    if (kept === undefined)
      log('warn', 'the outcome of a delivery was not recorded; it will be retried', { id });
    else if (end.status === 'failed') log('warn', 'a delivery has failed', { id, target, error: end.error });
    else log('debug', `a delivery is ${end.status}`, { id, target });
  }

  /** Aborts the try, because another worker has claimed the delivery. */
  #loseClaim(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#context.log('warn', 'the claim of a delivery was lost', { id: this.#delivery.id });
    this.#cut.abort();
  }
}

/**
 * Decides the state of a delivery after a try. A retry waits with back-off, and at least as long as the receiver asked for; a delivery is given up
 * after `TRIES_MAX` tries, or when a try fails at the age of `AGE_MAX_MS`.
 */
export function endOfTry(
  delivery: Delivery,
  result: DeliverResult,
  now: number,
  random: () => number,
): DeliveryEnd {
  if (result.type === 'delivered') return { status: 'delivered', at: now };
  if (result.type === 'failed') return { status: 'failed', error: result.error, at: now };
  const { attempts, created_at } = delivery;
  if (attempts >= TRIES_MAX || now - created_at >= AGE_MAX_MS) {
    const error = `${result.error} (given up after ${counted(attempts, 'try', 'tries')})`;
    return { status: 'failed', error, at: now };
  }
  const wait_ms = Math.ceil(Math.max(backOff(attempts, BACK_OFF, random), result.after_ms ?? 0));
  return { status: 'pending', error: result.error, next_at: now + wait_ms };
}
