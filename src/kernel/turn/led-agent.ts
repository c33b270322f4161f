import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { storable } from '../../records/text/text.ts';
import type { Mailbox } from '../mailbox/taken-mail.ts';
import type { RequestRecord } from '../step.ts';
import type { NeedAnswer, RefusalCode } from '../toolsets/toolset.ts';
import type { AgentEvent } from '../transition/event.ts';
import type { ParkedWait } from './advance-result.ts';

/** Input of an agent's next step. */
export type Input =
  | { readonly type: 'event'; readonly event: AgentEvent; readonly request?: RequestRecord }
  /** A call of a toolset; decided within the step, because it changes the tree. */
  | { readonly type: 'toolset-call'; readonly call: Call };

/** A refusal that replaces the result of a call. */
export interface Override {
  readonly code: RefusalCode;
  readonly message: string;
}

/** One agent that this process leads, as a step reads it: its committed state, and what was looked up for its open calls. */
export interface LedAgent {
  readonly agent: Agent;
  readonly prompt: Pick<Prompt, 'messages' | 'said'>;
  readonly inbox: Mailbox;
  /** By call, refusals of the ledger that replace its result. */
  readonly overrides: ReadonlyMap<string, Override>;
  /** The model request in flight. */
  readonly request: object | null;
  /** Text that the request in flight has streamed so far. */
  readonly said: string;
  /** By call, the index of the awaited agent that last kept the wait open: the next check begins there. */
  readonly wait_cursors: ReadonlyMap<string, number>;
  /** Names and id prefixes that were looked up in the ledger. */
  readonly looked_up: ReadonlySet<string>;
  /** Ids of calls for which all agents of the tree were read from the ledger. */
  readonly surveyed: ReadonlySet<string>;
  /** Answers to needs of calls that are not decided yet, by `needKey`. */
  readonly answers: ReadonlyMap<string, NeedAnswer>;
}

/** Text that the request in flight has streamed so far, for an event that may stop it. */
export function saidSoFar({ agent, request, said }: Pick<LedAgent, 'agent' | 'request' | 'said'>): {
  said?: { model: string; text: string };
} {
  if (request === null || said.trim() === '') return {};
  return { said: { model: agent.config.model, text: storable(said) } };
}

/** By call, the refusal of each wait that would close a cycle (law 10). */
export function overrideFor(
  path: readonly string[],
  parked: readonly ParkedWait[],
  agent: (id: string) => Agent | undefined,
): readonly (readonly [string, Override])[] {
  const next = path[1];
  const names = path.map((id) => agent(id)?.name ?? id).join(' → ');
  const message = `this wait could only end with its timeout, because these agents wait for each other and none of them continues before that: ${names}. Send your message and end your turn: the answer wakes you.`;
  const closing = parked.filter((one) => next !== undefined && one.from.includes(next));
  return (closing.length > 0 ? closing : parked).map(
    (one) => [one.call_id, { code: 'WOULD_DEADLOCK', message }] as const,
  );
}
