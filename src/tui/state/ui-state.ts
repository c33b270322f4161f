// The content of the terminal UI as data; the other files of this folder are pure functions that change or read it.

import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { modeOf } from '../../permissions/mode.ts';
import type { Agent, PermissionMode } from '../../records/agent/agent.ts';
import { addUsage, NO_USAGE, type Usage } from '../../records/agent/usage.ts';
import type { Ask, AskScope } from '../../records/conversation/ask.ts';
import type { CaptureContent, PlacedMessage } from '../../records/conversation/message.ts';
import type { ListedTask } from '../../records/run/listed-task.ts';
import type { Restoration } from '../../trees/rewind/file-restoration.ts';
import { NO_PULSE, type Pulse } from './agents/pulse.ts';
import type { Answer, Choice } from './answer.ts';
import type { Entry } from './entry.ts';
import { PersistentMap } from './persistent-map.ts';
import type { Picker } from './picker.ts';

/** A letter of the person that waits in a mailbox: what they wrote, and the number of attachments. */
export interface QueuedText {
  readonly id: string;
  readonly text: string;
  readonly attached: number;
}

/** UI state of one agent, besides its record. */
export interface AgentPane {
  readonly entries: readonly Entry[];
  /** Whether its history is loaded; until then, messages of the agent in view are collected in `early`. */
  readonly whole: boolean;
  readonly early: readonly PlacedMessage[];
  /** Seq of the newest message among the entries. */
  readonly seq: number;
  /** Text of the answer that is being streamed. */
  readonly streaming: string;
  /** Reasoning that is being streamed. */
  readonly reasoning: string;
  /** Why its model request waits, and until when. */
  readonly delay: { readonly reason: string; readonly until: number | null } | null;
  /** The newest output of running calls, by call id. */
  readonly output: ReadonlyMap<string, string>;
  /** Number of its unread messages, by sender (`human` for the person). */
  readonly unread: ReadonlyMap<string, number>;
  /** Messages of the person that its turn has not taken yet, oldest first. */
  readonly queued: readonly QueuedText[];
  /** Children that calls of the newest assistant message delegated to; they keep their rows when they are done. */
  readonly delegates: readonly { readonly call_id: string; readonly agent_id: string }[];
  /** Captured lines, null without a capture: `capture` as shown, `captured` as in the ledger; `capture_sent`: changes not confirmed yet. */
  readonly capture: readonly string[] | null;
  readonly captured: readonly string[] | null;
  readonly capture_sent: readonly CaptureContent[];
  /** Tokens of its newest request and answer, that is, how full its context is; null until one was seen here. */
  readonly request_tokens: number | null;
  /** The text that it last sent to another agent; null: none was seen. */
  readonly sent: string | null;
  readonly pulse: Pulse;
  /** Number of entries that arrived while another agent was in view. */
  readonly unseen: number;
}

export type Overlay =
  | {
      readonly type: 'agents';
      readonly filter: string;
      readonly selected: string | null;
      /** Whether the person wants to see the selected agent; left out: where there is room. */
      readonly peek?: boolean;
    }
  | {
      readonly type: 'kill';
      readonly agent_ids: readonly string[];
      readonly descendants: readonly string[];
      /** Kills only the agents that are still idle when it is confirmed. */
      readonly only_idle?: true;
      /** The list in which it was asked, which comes back. */
      readonly list?: Overlay | null;
    }
  /** `working`: how many agents work now. */
  | { readonly type: 'quit'; readonly working: () => number }
  | { readonly type: 'restore'; readonly files: readonly Restoration[]; readonly redo: boolean }
  /** Something that the person called, to be confirmed; `yes`: what `run` does, in a few words; `no`: what is done instead, if not nothing. */
  | {
      readonly type: 'consent';
      readonly question: string;
      readonly yes: string;
      readonly run: () => void;
      readonly no?: { readonly text: string; readonly run: () => void };
    }
  /** A workflow run, with its phases and agents. */
  | { readonly type: 'run'; readonly run_id: string; readonly selected: string | null }
  | Picker
  | { readonly type: 'keys'; readonly filter?: string; readonly from?: number }
  /** All trees of the ledger (`Overview`). */
  | { readonly type: 'trees' };

/** The visible question of an agent (`question-in-view.ts`). */
export interface Question {
  /** When it was shown, milliseconds since the epoch. */
  readonly since: number;
  /** The reason of a denial that is being typed; null: none is. */
  readonly saying: string | null;
  /** The rule that the person is about to grant; null: none. */
  readonly grant: GrantDraft | null;
  /** A letter that answers if no other key follows it. */
  readonly held: HeldLetter | null;
  /** The page in view, where there is no room for the whole question. */
  readonly page: number;
}

export interface GrantDraft {
  /** Rules to choose from, narrow to wide, then those that the person wrote. */
  readonly rules: readonly string[];
  readonly at: number;
  /** `waiting`: once, but also for the questions in `waiting` that the rule covers. */
  readonly scope: Exclude<AskScope, 'once'> | 'waiting';
  /** Ids of the questions that were open when the draft was begun. */
  readonly waiting: readonly string[];
  /** The rule that is being written; null: none is. */
  readonly editing: string | null;
  /** What was typed into it, if it was begun by a letter that may have been meant as text; null: it was begun deliberately, and takes every letter. */
  readonly typed: string | null;
}

export interface HeldLetter {
  readonly answer: Answer;
  /** The draft, which consists of the letter. */
  readonly text: string;
  readonly at: number;
  /** The draft is empty: the letter was armed. */
  readonly unwritten?: true;
}

export interface Turn {
  readonly began_at: number;
  /** When the root was last seen at work. */
  readonly seen_at: number;
  /** Usage of the tree before the turn. */
  readonly before: Usage;
}

export interface UiState {
  /** Agents of the tree, oldest first, without those that were reaped. */
  readonly agents: PersistentMap<Agent>;
  /** Usage of the agents that were reaped, or deleted while the tree is open: it stays in the total. */
  readonly past_usage: Usage;
  readonly root_id: string | null;
  /** The newest turn of the root; null if its beginning was not seen here. */
  readonly turn: Turn | null;
  /** The agent in view; null before the first prompt. */
  readonly view: string | null;
  /** Slots 1–9 by agent id; slot 0 is the root. */
  readonly slots: ReadonlyMap<string, number>;
  readonly panes: PersistentMap<AgentPane>;
  /** Open questions of the whole tree, first in first out. */
  readonly asks: readonly Ask[];
  /** Ids of asks that the person postponed; they do not come up again by themselves. */
  readonly put_off: ReadonlySet<string>;
  /** The task list that the agents of the tree share. */
  readonly tasks: readonly ListedTask[];
  /** Remaining budgets of the root and of the agent in view, as last read. */
  readonly budgets: readonly DocumentOf<'coppice/budget/v1'>[];
  readonly overlay: Overlay | null;
  /** The letter that decides the confirmation if no other key follows it (`confirmation.ts`). */
  readonly deciding: { readonly decision: Choice; readonly text: string; readonly at: number } | null;
  /** The visible question; null: the queue is empty, or hidden. */
  readonly question: Question | null;
  /** Whether letters answer at once (rule Q4 of `question-in-view.ts`). */
  readonly armed: boolean;
  /** Letters for questions behind the visible one, by id of the question. */
  readonly ahead: ReadonlyMap<string, HeldLetter>;
  /** Ids of questions that were answered here; the ledger may still list them as open. */
  readonly answered: ReadonlySet<string>;
  /** The person's own command that is running, with the end of its output. */
  readonly shell_command: {
    readonly command: string;
    readonly output: string;
    readonly since: number;
  } | null;
  /** When the person last pressed a key or pasted, milliseconds since the epoch. */
  readonly typed_at: number;
  /** When the first key of the draft was pressed. */
  readonly draft_at: number;
  /** When Ctrl-C was pressed; null: too long ago for a second one to leave. */
  readonly leaving: number | null;
  /** When Esc was pressed with nothing to stop or close; null: too long ago for a second one to go back. */
  readonly escaped: number | null;
  /** Whether the leader key was just pressed. */
  readonly leader: boolean;
  /** The mode of the conversation that the next message begins. */
  readonly next_mode: PermissionMode;
  /** Why the ledger cannot be reached; null: it can. */
  readonly trouble: string | null;
  /** Milliseconds since the epoch; drives spinners and clocks. */
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
  unread: new Map(),
  queued: [],
  delegates: [],
  capture: null,
  captured: null,
  capture_sent: [],
  request_tokens: null,
  sent: null,
  pulse: NO_PULSE,
  unseen: 0,
};

export const EMPTY_UI: UiState = {
  agents: PersistentMap.empty(),
  past_usage: NO_USAGE,
  root_id: null,
  turn: null,
  view: null,
  slots: new Map(),
  panes: PersistentMap.empty(),
  asks: [],
  put_off: new Set(),
  armed: false,
  ahead: new Map(),
  answered: new Set(),
  tasks: [],
  budgets: [],
  overlay: null,
  deciding: null,
  question: null,
  shell_command: null,
  typed_at: 0,
  draft_at: 0,
  leaving: null,
  escaped: null,
  leader: false,
  next_mode: 'ask',
  trouble: null,
  now: 0,
};

/** The usage of all agents together, reaped ones included. */
export function totalUsage(state: UiState): Usage {
  let total = state.past_usage;
  for (const { usage } of state.agents.values()) total = addUsage(total, usage);
  return total;
}

export function rootOf({ agents, root_id }: UiState): Agent | undefined {
  return root_id === null ? undefined : agents.get(root_id);
}

export function paneOf(state: UiState, agent_id: string): AgentPane {
  return state.panes.get(agent_id) ?? EMPTY_PANE;
}

/** The modes in words for people. */
export const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks',
  accept: 'accepts edits',
  plan: 'plans only',
};

/** The mode of the tree in view, which is kept with its root; without a tree, the mode of the next one. */
export function modeInView({ root_id, agents, next_mode }: UiState): PermissionMode {
  const root = root_id === null ? undefined : agents.get(root_id);
  return root === undefined ? next_mode : modeOf(root.config);
}
