/** `failed`: given up, for good or after too many tries; a person may have it tried again. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/**
 * What a delivery carries, besides the text that is kept with it. `run`: the end of an isolated run. `reply`: what an agent said at the end of
 * a turn, to the chat that it talks with. `ask`: a call that a person must allow.
 */
export type DeliveryKind = 'run' | 'reply' | 'ask';

/** A message for people outside. It enters the outbox in the transaction that caused it; `id` tells repeats apart for whoever receives it. */
export interface NewDelivery {
  /** Follows from the cause (`run-<run id>-0`), so that the same cause enters once. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** `channel:address`, such as `telegram:-10012345` or `webhook:ops`; `stdout` has no address. */
  readonly target: string;
  readonly root_id: string;
  readonly agent_id: string;
  /** The run (`run`) or the ask (`ask`) that it tells of; null for a reply. */
  readonly about: string | null;
  /** The text of a reply; null where it follows from what it is about. */
  readonly body: string | null;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
}

export interface Delivery extends NewDelivery {
  readonly status: DeliveryStatus;
  /** How often it was begun; the number of the try under way. */
  readonly attempts: number;
  /** Not tried before; milliseconds since the epoch. */
  readonly next_at: number;
  /** Why the last try failed. */
  readonly error: string | null;
  /** What the channel noted between the parts of a long message; its own matter. */
  readonly progress: string | null;
  /** When it was delivered or given up. */
  readonly ended_at: number | null;
}

/** `telegram:42` → channel and address; the address may hold colons, and is empty when there is none. */
export function splitTarget(target: string): { readonly channel: string; readonly address: string } {
  const at = target.indexOf(':');
  return at < 0
    ? { channel: target, address: '' }
    : { channel: target.slice(0, at), address: target.slice(at + 1) };
}
