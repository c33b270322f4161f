import { isTerminal, isWorking } from '../../records/agent/state.ts';
import { type Mail, type NewMail, TAKEN_BACK } from '../../records/conversation/mail.ts';
import type { Refusal } from '../step.ts';
import type { AgentFacts } from './facts.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { enterUnled, signal } from './unled.ts';

/**
 * Puts mail into the mailbox of a living agent. `writer`: the worker that writes it, which needs no signal. `sent_seq`: the newest message of its sender then, by
 * which cuts know what comes before it.
 */
export function post(
  unit: UnitOfWork,
  mail: NewMail,
  writer: string | null,
  sent_seq: number | null = null,
): Mail {
  const before = unit.agent(mail.to_id) as AgentFacts;
  const to = unit.setAgent(before, { mail_count: before.mail_count + 1 });
  const sent = unit.addMail(mail, to.mail_count, sent_seq);
  if (to.worker === null) enterUnled(unit, [to]);
  else signal(unit, to, writer, 'mail');
  unit.rows.notify(`agent_event_${to.id}`, 'mail');
  return sent;
}

export type SendResult =
  | { readonly ok: true; readonly mail: Mail }
  | { readonly ok: false; readonly refusal: Refusal };

/** Sends mail from outside the tree's own steps. Idempotent by the mail's id: mail that is there, whoever has it, is not sent again. */
export function send(unit: UnitOfWork, mail: NewMail): SendResult {
  const there = unit.mail(mail.id);
  if (there !== null)
    return {
      ok: true,
      mail: { ...mail, to_id: there.to_id, number: there.number, consumed_seq: there.consumed_seq },
    };
  const to = unit.agent(mail.to_id);
  const found =
    to === null || unit.tree(to.root_id)?.removal != null ? 'unknown' : isTerminal(to.status) ? 'dead' : null;
  if (found !== null) return { ok: false, refusal: { reason: 'recipient', agent_id: mail.to_id, found } };
  return { ok: true, mail: post(unit, mail, null) };
}

/** Signals to the agents that wait for `about` that it has settled. */
export function signalWaiters(unit: UnitOfWork, about: string, writer: string | null): void {
  const waiters = unit.waiters(about);
  if (waiters.length === 0) return;
  unit.prefetch({ agent: waiters });
  const agents = waiters.flatMap((id) => unit.agent(id) ?? []);
  for (const waiter of agents) signal(unit, waiter, writer, 'status', about);
  enterUnled(unit, agents);
}

/** Whether the agent is at rest, ended or removed: an agent that begins to wait for it now gets no signal any more. */
export function isSettled(unit: UnitOfWork, id: string): boolean {
  const agent = unit.agent(id);
  return agent === null || isTerminal(agent.status) || unit.isAtRest(agent);
}

/**
 * Takes back a person's letter that its agent has not read; returns false if it was read or cannot be taken back. Idempotent. Only from an agent at work:
 * unread mail decides whether a resting agent counts as at rest, and the agents that wait for it would not be told of the change.
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
