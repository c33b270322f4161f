import { createHash } from 'node:crypto';
import type { Step } from '../../src/kernel/step.ts';
import type { NewAgent } from '../../src/records/agent/new-agent.ts';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import type { Message } from '../../src/records/conversation/message.ts';
import type { StepKind } from './kill-points.ts';

/** What one step was to bring about, as it was handed to the ledger. */
export interface Offer {
  readonly agent_id: string;
  readonly kind: StepKind;
  /** Agent, seq and mark of every message, those of created agents too. */
  readonly messages: readonly (readonly [string, number, string])[];
  readonly created: readonly string[];
  /** Id and mark of every letter. */
  readonly sent: readonly (readonly [string, string])[];
  /** Id of every letter that it takes into the conversation, and the seq of the message that carries it. */
  readonly consumed: readonly (readonly [string, number])[];
  readonly killed: readonly string[];
}

/** By which a message is known again, to the letter and to the millisecond; a letter, which has an id of its own, by its text (`at` 0). */
export function markOf(value: unknown, at: number): string {
  return createHash('sha256')
    .update(JSON.stringify([value, at]))
    .digest('base64url')
    .slice(0, 16);
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

/** A letter of a person: it belongs to no step of an agent. */
export function offerOfLetter({ id, to_id, body }: NewMail): Offer {
  const sent = [[id, markOf(body, 0)] as const];
  return { agent_id: to_id, kind: 'letter', messages: [], created: [], sent, consumed: [], killed: [] };
}
