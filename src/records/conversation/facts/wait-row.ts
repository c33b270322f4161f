/** Status of an agent in the rows of a wait (docs/vocabularies.md). `waits_for_you`: it goes on only when the waiter does something. */
export type WaitStatus = 'received' | 'running' | 'idle' | 'dead' | 'waits_for_you';

/** The person, as a sender of mail. */
export const PERSON = 'user';

/** Whether a stored row is the person's; earlier versions wrote `human`. */
export function isPerson({ agent_id }: Pick<WaitRow, 'agent_id'>): boolean {
  return agent_id === PERSON || agent_id === 'human';
}

export interface WaitRow {
  readonly agent_id: string;
  readonly name: string;
  readonly status: WaitStatus;
  /** The mail's text. */
  readonly message?: string;
  /** Names of those that a `running` agent waits for, if it does nothing else. */
  readonly waits_for?: readonly string[];
  /** Text of its last turn, for an `idle` agent that sent its parent no mail in it; for its parent, of all turns that were not reported to it yet. */
  readonly last_reply?: string;
  /** Why its turn failed, if it did. */
  readonly error?: string;
  /** The limit that cut its turn short. */
  readonly limit?: string;
  /** Summary of what it actually did since its last input (`deedsLine`). */
  readonly did?: string;
}

/** Reason for ending a wait before all agents have answered. */
export type WaitCut = 'timeout' | 'interrupted';

/** How a wait ended. */
export interface WaitResult {
  readonly rows: readonly WaitRow[];
  readonly cut: WaitCut | null;
}
