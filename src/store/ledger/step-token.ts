import { createHash } from 'node:crypto';
import type { Step } from '../../kernel/step.ts';

/**
 * A mark of a step without messages, which leaves no trace in the seq: by it a ledger knows the very same step again when it is offered a
 * second time because the answer to the first was lost. Null for all others.
 */
export function stepToken(step: Step): string | null {
  if (step.messages.length > 0) return null;
  return createHash('sha256').update(JSON.stringify(step)).digest('base64url').slice(0, 22);
}
