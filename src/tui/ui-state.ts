import type { Agent } from '../core/agent.ts';
import type { Ask } from '../core/ask.ts';
import type { Entry } from './entry.ts';

/** What the UI keeps of one agent beside what the ledger says. */
export interface AgentPane {
  readonly entries: readonly Entry[];
  /** Text that the model is just saying; empty when it is silent. */
  readonly streaming: string;
  /** What the person has typed and not sent. */
  readonly draft: string;
  /** Captured lines, null when no capture is on (seed 1, Capture Mode). */
  readonly capture: readonly string[] | null;
  /** Entries that came while another agent was in view. */
  readonly unseen: number;
}

export type Overlay =
  | { readonly type: 'agents'; readonly filter: string; readonly selected: string | null }
  | { readonly type: 'approvals'; readonly since: number; readonly saying: string | null }
  | { readonly type: 'kill'; readonly agent_id: string; readonly descendants: readonly string[] }
  | { readonly type: 'quit'; readonly working: number }
  | { readonly type: 'keys' };

export interface UiState {
  /** In order of birth. */
  readonly agents: ReadonlyMap<string, Agent>;
  readonly root_id: string | null;
  /** The agent in view; null before the first prompt. */
  readonly view: string | null;
  /** Slots 1–9 by agent id, fixed at birth; slot 0 is the root. */
  readonly slots: ReadonlyMap<string, number>;
  readonly panes: ReadonlyMap<string, AgentPane>;
  /** Open questions of the whole tree, first in first out. */
  readonly asks: readonly Ask[];
  readonly overlay: Overlay | null;
  /** The leader key was pressed and waits for the next one. */
  readonly leader: boolean;
  /** Milliseconds since the epoch: moves spinners and clocks. */
  readonly now: number;
}
