import type { Ask } from '../records/conversation/ask.ts';
import type { Mail } from '../records/conversation/mail.ts';
import type {
  AssistantContent,
  FileStamp,
  PlacedMessage,
  ResultContent,
} from '../records/conversation/message.ts';

/** What reads of trees return that no write takes. */

/** A call that changed a file. */
export interface FileChange {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly root_id: string;
  /** Seq of the call's result. */
  readonly seq: number;
  readonly at: number;
  readonly result: ResultContent & { readonly file: FileStamp };
  /** The answer that made the call; null if it is no longer in the ledger. */
  readonly answer: AssistantContent | null;
}

/** Where the result of a call stands. */
export interface FoundCall {
  readonly agent_id: string;
  readonly seq: number;
  readonly call_id: string;
}

/** A letter in the list of a tree's mail; `read_at`: milliseconds since the epoch, null while unread. */
export type TreeLetter = Mail & { readonly to_name: string; readonly read_at: number | null };

/** What an agent needs to go on. */
export interface Conversation {
  /** Messages from which the agent's prompt is made: those that its newest checkpoint does not replace, or all. */
  readonly messages: readonly PlacedMessage[];
  /** Unconsumed mail in order. */
  readonly mail: readonly Mail[];
}

export type AskMark = Pick<Ask, 'id' | 'root_id' | 'agent_id'>;

/** A message that a search found. */
export interface FoundMessage {
  readonly root_id: string;
  readonly agent_name: string;
  readonly message: PlacedMessage;
  /** What of it was searched. */
  readonly text: string;
}
