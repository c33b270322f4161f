import { isTerminal } from '../../records/agent/state.ts';
import type { Mail, NewMail } from '../../records/conversation/mail.ts';
import type { Refusal } from '../step.ts';
import type { AgentFacts } from './facts.ts';
import { seekLeader, signal } from './leading.ts';
import type { Unit } from './unit.ts';

/** The recipient is known to be alive. `writer` is the worker that writes the letter. */
export function post(unit: Unit, mail: NewMail, writer: string | null): Mail {
  const before = unit.agent(mail.to_id) as AgentFacts;
  const to = unit.setAgent(before, { mail_count: before.mail_count + 1 });
  const sent = unit.addMail(mail, to.mail_count);
  if (to.worker === null) seekLeader(unit, [to]);
  else signal(unit, to, writer, 'mail');
  unit.rows.notify(`agent_event_${to.id}`, 'mail');
  return sent;
}

export type Sent =
  | { readonly ok: true; readonly mail: Mail }
  | { readonly ok: false; readonly refusal: Refusal };

/** A letter from outside a tree's own steps; one that is there already is not sent again. */
export function send(unit: Unit, mail: NewMail): Sent {
  const there = unit.mail(mail.id);
  if (there !== null)
    return { ok: true, mail: { ...mail, number: there.number, consumed_seq: there.consumed_seq } };
  const to = unit.agent(mail.to_id);
  const found =
    to === null || unit.tree(to.root_id)?.removal != null ? 'unknown' : isTerminal(to.status) ? 'dead' : null;
  if (found !== null) return { ok: false, refusal: { reason: 'recipient', agent_id: mail.to_id, found } };
  return { ok: true, mail: post(unit, mail, null) };
}

/** `about` has come to rest or has ended: whoever waits for it hears of it. */
export function tellWaiters(unit: Unit, about: string, writer: string | null): void {
  const waiters = unit.waiters(about);
  if (waiters.length === 0) return;
  unit.want({ agent: waiters });
  const agents = waiters.flatMap((id) => unit.agent(id) ?? []);
  for (const waiter of agents) signal(unit, waiter, writer, 'status', about);
  seekLeader(unit, agents);
}

/** It has come to rest or has ended, so that it tells nobody any more who begins to wait for it now. */
export function isSettled(unit: Unit, id: string): boolean {
  const agent = unit.agent(id);
  return agent === null || isTerminal(agent.status) || unit.isAtRest(agent);
}
