import { hash } from 'node:crypto';
import type { CutTree } from '../../src/kernel/cut/cut-facts.ts';
import type { Step } from '../../src/kernel/step.ts';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import type { Message } from '../../src/records/conversation/message.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import type { StepKind } from './kill-points.ts';

/** The intended effects of one step, as passed to the ledger. */
export interface Offer {
  readonly agent_id: string;
  readonly kind: StepKind;
  /** Agent, seq and digest of every message, including those of created agents. */
  readonly messages: readonly (readonly [string, number, string])[];
  readonly created: readonly string[];
  /** Id and digest of every mail. */
  readonly sent: readonly (readonly [string, string])[];
  /** Id of every mail that it consumes, and the seq of the message that carries it. */
  readonly consumed: readonly (readonly [string, number])[];
  readonly killed: readonly string[];
}

/** Digest that identifies a message by content and time; mail, which has an id, by its body alone (`at` 0). */
export function markOf(value: unknown, at: number): string {
  return hash('sha256', JSON.stringify([value, at]), 'base64url').slice(0, 16);
}

export function offerOf(step: Step, kind: StepKind): Offer {
  return {
    agent_id: step.agent_id,
    kind,
    messages: [
      ...marked(step.agent_id, step.base_seq, step.messages, step.at),
      ...step.create.flatMap(({ agent, messages }) =>
        marked(agent.id, agent.forked_from?.seq ?? 0, messages, agent.created_at),
      ),
    ],
    created: step.create.map(({ agent }) => agent.id),
    sent: step.send.map((mail) => [mail.id, markOf(mail.body, 0)]),
    consumed: step.consume.map(({ mail_id, seq }) => [mail_id, seq]),
    killed: step.kill,
  };
}

export function offerOfRoot({ agent, messages }: NewAgent): Offer {
  return {
    agent_id: agent.id,
    kind: 'root',
    messages: marked(agent.id, 0, messages, agent.created_at),
    created: [agent.id],
    sent: [],
    consumed: [],
    killed: [],
  };
}

function marked(
  agent_id: string,
  base_seq: number,
  messages: readonly Message[],
  at: number,
): Offer['messages'] {
  return messages.map(({ content }, place) => [agent_id, base_seq + 1 + place, markOf(content, at)]);
}

/** A tree that was taken back: it shares its messages with the old one. */
export function offerOfCut({ agents }: CutTree): Offer {
  const created = agents.map(({ id }) => id);
  const none = { messages: [], sent: [], consumed: [], killed: [] };
  return { agent_id: created[0] ?? '', kind: 'cut', created, ...none };
}

/** Mail from a person, which is part of no step. */
export function offerOfLetter({ id, to_id, body }: NewMail): Offer {
  const sent = [[id, markOf(body, 0)] as const];
  return { agent_id: to_id, kind: 'letter', messages: [], created: [], sent, consumed: [], killed: [] };
}
