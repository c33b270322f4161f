import type { Agent, PermissionMode } from '../../records/agent/agent.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import type { CaptureContent, PlacedMessage } from '../../records/conversation/message.ts';
import type { ListedTask } from '../../records/run/listed-task.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { Tone } from './entry.ts';
import type { GrantChange } from './grant-draft.ts';
import type { Overlay, UiState } from './ui-state.ts';

/** Directions in which the view can move along the tree. */
export type Direction = 'parent' | 'child' | 'previous' | 'next';

/** Everything that changes what the UI shows. */
export type UiEvent =
  | { readonly type: 'runtime'; readonly event: RuntimeEvent }
  /** A tree was opened, with its agents from the ledger, reaped ones too; null: no tree is open, and the next message begins one. */
  | { readonly type: 'opened'; readonly root_id: string | null; readonly agents: readonly Agent[] }
  /** The history of one agent with what it inherited, and its pending mail. Messages that arrived meanwhile are appended. */
  | {
      readonly type: 'history';
      readonly agent_id: string;
      readonly messages: readonly PlacedMessage[];
      readonly mail: readonly Mail[];
      /** Tokens of the newest request before this program saw one. */
      readonly used?: number;
    }
  /** The person took back a message before its agent had read it. */
  | { readonly type: 'taken_back'; readonly agent_id: string; readonly mail_id: string }
  /** The person's own command has begun (null: has ended), or has written. */
  | { readonly type: 'own_command'; readonly began: string | null }
  | { readonly type: 'own_command'; readonly output: string }
  /** The open approvals from the ledger. */
  | { readonly type: 'asks'; readonly asks: readonly Ask[] }
  /** Budgets of the root and of the agent in view. */
  | { readonly type: 'budgets'; readonly budgets: UiState['budgets'] }
  | { readonly type: 'tasks'; readonly tasks: readonly ListedTask[] }
  | { readonly type: 'go'; readonly to: Direction }
  | { readonly type: 'visit'; readonly agent_id: string }
  | { readonly type: 'slot'; readonly slot: number }
  | { readonly type: 'pin'; readonly agent_id: string; readonly slot: number }
  /** The person started or ended a capture, or captured a line; `lost`: it did not reach the ledger. */
  | {
      readonly type: 'captured';
      readonly agent_id: string;
      readonly content: CaptureContent;
      readonly lost?: boolean;
    }
  | {
      readonly type: 'say';
      readonly agent_id: string;
      readonly text: string;
      readonly tone: Tone;
    }
  /** Opens or closes an entry, by its index. */
  | { readonly type: 'fold'; readonly agent_id: string; readonly index: number; readonly opened: boolean }
  | { readonly type: 'reaped'; readonly ids: readonly string[] }
  /** The first key since the confirmation (kill, quit, restore) came up. */
  | { readonly type: 'decide'; readonly letter: string }
  /** Null closes the overlay. */
  | { readonly type: 'overlay'; readonly overlay: Overlay | null }
  /** The head of the queue is shown, or postponed; postponing never answers. */
  | { readonly type: 'question'; readonly shown: boolean }
  /** Pages of the visible question are turned. */
  | { readonly type: 'turned'; readonly by: number }
  /** Changes the rule with which the visible question is about to be answered; `typed`: the letter that did it, if it may have been meant as text. */
  | { readonly type: 'grant'; readonly change: GrantChange; readonly typed?: string | null }
  | { readonly type: 'saying'; readonly text: string | null }
  /** Questions were answered; `failed`: the answers did not reach the ledger. */
  | { readonly type: 'answered'; readonly ids: readonly string[]; readonly failed?: true }
  /** A key, or a paste. `alone`, `again`: see `withKey`; `drafting`: there was a draft before it. */
  | {
      readonly type: 'typed';
      readonly alone: string | null;
      readonly again?: string | null;
      readonly drafting?: boolean;
    }
  /** Ctrl-C was pressed; a second one within a second leaves. */
  | { readonly type: 'leaving' }
  /** Esc had nothing to stop or close: a second one goes back; or another key came. */
  | { readonly type: 'escaped'; readonly on: boolean }
  /** The mode of the conversation that the next message begins. */
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  | { readonly type: 'leader'; readonly on: boolean }
  | { readonly type: 'tick'; readonly now: number };
