import { isWorking } from '../../records/agent/state.ts';
import { TAKEN_BACK } from '../../records/conversation/mail.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * Takes back a person's letter before its agent reads it; false: it was read, or is no such letter. Idempotent. Only from an agent at work: of one
 * at rest, unread mail decides whether it counts as resting, and who waits for it was told so.
 */
export function takeBack(unit: UnitOfWork, to_id: string, mail_id: string): boolean {
  const mail = unit.mail(mail_id);
  if (mail?.to_id !== to_id || mail.from_id !== null || mail.kind !== 'letter') return false;
  if (mail.consumed_seq === TAKEN_BACK) return true;
  const to = unit.agent(to_id);
  if (to === null || !isWorking(to.status) || !unit.isPending(mail_id, to_id)) return false;
  unit.consume(mail_id, TAKEN_BACK);
  return true;
}
