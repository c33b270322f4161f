import type { Agent } from '../../records/agent/agent.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { CaptureContent, PlacedMessage } from '../../records/conversation/message.ts';
import type { Answer, Choice } from '../keys/answer.ts';
import type { Entry } from './entry.ts';
import { PersistentMap } from './persistent-map.ts';

/** What the UI keeps of one agent beside what the ledger says. */
export interface AgentPane {
  readonly entries: readonly Entry[];
  /** Its scrollback is whole; until then messages that come are only kept for when its history is there. */
  readonly whole: boolean;
  readonly early: readonly PlacedMessage[];
  /** Seq of the newest message among the entries. */
  readonly seq: number;
  /** Text that the model is just saying; empty when it is silent. */
  readonly streaming: string;
  /** What it is just thinking. */
  readonly reasoning: string;
  /** Why its model request waits, and until when. */
  readonly delay: { readonly reason: string; readonly until: number } | null;
  /** What running calls print, by call id: the newest part. */
  readonly output: ReadonlyMap<string, string>;
  /** Letters that wait for it, by sender (`human` for the person). */
  readonly letters: ReadonlyMap<string, number>;
  /** What the person wrote to it and its turn has not taken yet, oldest first. */
  readonly queued: readonly { readonly id: string; readonly text: string }[];
  /** Children that calls of the newest assistant message delegated to (seed 5): they keep their rows when they are done. */
  readonly delegates: readonly { readonly call_id: string; readonly agent_id: string }[];
  /** What the person has typed and not sent. */
  readonly draft: string;
  /** Captured lines, null when no capture is on (seed 1, Capture Mode): what the ledger has, and what was sent to it. */
  readonly capture: readonly string[] | null;
  readonly captured: readonly string[] | null;
  readonly capture_sent: readonly CaptureContent[];
  /** Entries that came while another agent was in view. */
  readonly unseen: number;
}

export type Overlay =
  | { readonly type: 'agents'; readonly filter: string; readonly selected: string | null }
  | { readonly type: 'kill'; readonly agent_ids: readonly string[]; readonly descendants: readonly string[] }
  | { readonly type: 'quit'; readonly working: number }
  | { readonly type: 'keys' };

/** The question of an agent that is in sight (`question.ts`). */
export interface Question {
  /** When it came into sight, milliseconds since the epoch. */
  readonly since: number;
  /** Words that go with a deny; null while none are asked for. */
  readonly saying: string | null;
  /** A letter that is an answer if nothing follows it. */
  readonly held: HeldLetter | null;
  /** The part of what is asked that is in sight, where there is no room for all of it. */
  readonly page: number;
}

export interface HeldLetter {
  readonly answer: Answer;
  /** The draft that it made. */
  readonly text: string;
  readonly at: number;
}

export interface UiState {
  /** In order of birth. */
  readonly agents: PersistentMap<Agent>;
  readonly root_id: string | null;
  /** The agent in view; null before the first prompt. */
  readonly view: string | null;
  /** Slots 1–9 by agent id, fixed at birth; slot 0 is the root. */
  readonly slots: ReadonlyMap<string, number>;
  readonly panes: PersistentMap<AgentPane>;
  /** Open questions of the whole tree, first in first out. */
  readonly asks: readonly Ask[];
  /** Ids of asks that the person put off; they do not come up by themselves again. */
  readonly put_off: ReadonlySet<string>;
  readonly overlay: Overlay | null;
  /** The letter that answers the person's own question if nothing follows it (`decision.ts`). */
  readonly deciding: { readonly decision: Choice; readonly text: string; readonly at: number } | null;
  /** The head of the queue is in sight. */
  readonly question: Question | null;
  /** When the person last pressed a key, or pasted; milliseconds since the epoch. */
  readonly typed_at: number;
  /** The leader key was pressed and waits for the next one. */
  readonly leader: boolean;
  /** What is wrong with the ledger; null while it can be reached. */
  readonly trouble: string | null;
  /** Milliseconds since the epoch: moves spinners and clocks. */
  readonly now: number;
}

export const EMPTY_PANE: AgentPane = {
  entries: [],
  whole: false,
  early: [],
  seq: 0,
  streaming: '',
  reasoning: '',
  delay: null,
  output: new Map(),
  letters: new Map(),
  queued: [],
  delegates: [],
  draft: '',
  capture: null,
  captured: null,
  capture_sent: [],
  unseen: 0,
};

export const EMPTY_UI: UiState = {
  agents: PersistentMap.empty(),
  root_id: null,
  view: null,
  slots: new Map(),
  panes: PersistentMap.empty(),
  asks: [],
  put_off: new Set(),
  overlay: null,
  deciding: null,
  question: null,
  typed_at: 0,
  leader: false,
  trouble: null,
  now: 0,
};

export function paneOf(state: UiState, agent_id: string): AgentPane {
  return state.panes.get(agent_id) ?? EMPTY_PANE;
}
