import type { StopReason } from '@agentclientprotocol/sdk';
import type { Agent } from '../../records/agent/agent.ts';
import { failureOf } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import { failureError } from '../protocol-error.ts';

/** Returns why a turn ended. Throws an error of the protocol if it failed. */
export function stopReasonOf({ state }: Pick<Agent, 'state'>, cancelled: boolean): StopReason {
  if (cancelled) return 'cancelled';
  const failure = failureOf(state);
  if (failure === null) return cutShort(state) === null ? 'end_turn' : 'max_turn_requests';
  if (failure.kind === 'refused') return 'refusal';
  if (failure.kind === 'cut') return 'max_tokens';
  if (failure.kind === 'cancelled') return 'cancelled';
  throw failureError(failure);
}
