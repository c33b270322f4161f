import { CoppiceError } from '../coppice-error.ts';
import type { Outcome } from './outcome.ts';

/** `failed`: given up after a permanent error or too many attempts; a person may retry it. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/**
 * Subject of a delivery. `run`: the end of an isolated run. `reply`: an agent's reply at the end of a turn, to its chat. `ask`: a call that a person
 * must approve. `notice`: what the script of a workflow tells people. `alert`: a condition that an alert rule of the configuration watches for.
 */
export type DeliveryKind = 'run' | 'reply' | 'ask' | 'notice' | 'alert';

/** How the tree ended whose result this is; null for other messages. */
export type Told = {
  readonly [Name in 'outcome' | 'outcome_text']?: Outcome[Name] | null | undefined;
};

/** A message to people outside. It enters the outbox in the transaction that causes it; recipients recognize duplicates by `id`. */
export interface NewDelivery extends Told {
  readonly id: string;
  readonly kind: DeliveryKind;
  /** `channel:address`, such as `telegram:-10012345` or `webhook:ops`; `stdout` has no address. */
  readonly target: string;
  readonly root_id: string;
  readonly agent_id: string;
  /** Id of the run or the ask; null for other kinds. */
  readonly about: string | null;
  /** The text of a reply, a notice or an alert; null for other kinds, whose text is derived from `about`. */
  readonly body: string | null;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
}

export interface Delivery extends NewDelivery {
  readonly status: DeliveryStatus;
  /** How many attempts have begun; the number of the current one. */
  readonly attempts: number;
  /** Earliest next attempt; milliseconds since the epoch. */
  readonly next_at: number;
  /** Why the last attempt failed. */
  readonly error: string | null;
  /** The channel's own record of which parts of a long message were sent. */
  readonly progress: string | null;
  /** When it was delivered or given up. */
  readonly ended_at: number | null;
}

/** Id of a delivery: its kind and what caused it, so that each cause enters the outbox once (`run-<run id>-0`). */
export function deliveryId(kind: DeliveryKind, ...cause: readonly (string | number)[]): string {
  return [kind, ...cause].join('-');
}

/** `telegram:42` → channel and address. The address may contain colons; it is empty if absent. */
export function splitTarget(target: string): { readonly channel: string; readonly address: string } {
  const at = target.indexOf(':');
  return at < 0
    ? { channel: target, address: '' }
    : { channel: target.slice(0, at), address: target.slice(at + 1) };
}

/** The targets, each once. Throws `E_INVALID_ARGUMENT` for one that is none; `problem` says why. */
export function checkedTargets(
  targets: readonly string[],
  problem: (target: string) => string | null,
): string[] {
  for (const target of targets) {
    const wrong = problem(target);
    if (wrong !== null) throw new CoppiceError('E_INVALID_ARGUMENT', `deliver ${target}: ${wrong}`);
  }
  return [...new Set(targets)];
}
