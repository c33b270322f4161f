import type { Agent } from '../../records/agent/agent.ts';
import type { Call } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { storable } from '../../records/text/text.ts';
import type { RequestRecord } from '../step.ts';
import type { NeedAnswer, RefusalCode } from '../toolsets/toolset.ts';
import type { AgentEvent } from '../transition/event.ts';
import type { ParkedWait } from './advance-result.ts';

/** Something that happened to an agent and waits to be taken into its next step. */
export type Input =
  | { readonly type: 'event'; readonly event: AgentEvent; readonly request?: RequestRecord }
  /** A call of a toolset: decided inside the step, because it changes the tree. */
  | { readonly type: 'toolset-call'; readonly call: Call };

/** What the model is told instead of a call's result. */
export interface Override {
  readonly code: RefusalCode;
  readonly message: string;
}

/** Pending mail of one agent. */
export interface Mailbox {
  readonly isEmpty: boolean;
  /** Oldest first. */
  all(): readonly Mail[];
  hasLetterFrom(agent_id: string): boolean;
}

/** One agent that this process leads, as a step may look at it: the committed truth, and what was found out for its open calls. */
export interface LedAgent {
  readonly agent: Agent;
  readonly prompt: Pick<Prompt, 'messages' | 'said' | 'spokenTo'>;
  readonly inbox: Mailbox;
  /** Calls that the ledger refused in a step, with what their model is told instead. */
  readonly overrides: ReadonlyMap<string, Override>;
  /** The model request in flight. */
  readonly request: object | null;
  /** What the request in flight has brought of its text. */
  readonly said: string;
  /** Where the last look at a fan-in found an agent that still runs: the next look begins there. */
  readonly wait_cursors: ReadonlyMap<string, number>;
  /** Texts that were looked up in the ledger and are known now, or known to be nobody. */
  readonly looked_up: ReadonlySet<string>;
  /** Ids of calls for which the ledger was asked for everybody of the tree. */
  readonly surveyed: ReadonlySet<string>;
  /** What was found out for calls, by `needKey`, until the calls are decided. */
  readonly answers: ReadonlyMap<string, NeedAnswer>;
}

/** What the request in flight has brought of its text, for an event that may stop it. */
export function saidSoFar({ agent, request, said }: Pick<LedAgent, 'agent' | 'request' | 'said'>): {
  said?: { model: string; text: string };
} {
  if (request === null || said.trim() === '') return {};
  return { said: { model: agent.config.model, text: storable(said) } };
}

/** The calls that would close a cycle (law 10), each with the error that names it. */
export function overrideFor(
  path: readonly string[],
  parked: readonly ParkedWait[],
  agent: (id: string) => Agent | undefined,
): readonly (readonly [string, Override])[] {
  const next = path[1];
  const names = path.map((id) => agent(id)?.name ?? id).join(' → ');
  const message = `nothing can come before your timeout, because these agents wait for each other, and none of them goes on before that: ${names}. Send your message and end your turn, or wait for somebody else.`;
  const closing = parked.filter((one) => next !== undefined && one.from.includes(next));
  return (closing.length > 0 ? closing : parked).map(
    (one) => [one.call_id, { code: 'WOULD_DEADLOCK', message }] as const,
  );
}
