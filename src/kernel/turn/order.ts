import type { AskScope } from '../../records/conversation/ask.ts';
import type { CaptureContent } from '../../records/conversation/message.ts';

/** What a person tells an agent beside letters; mail of kind `control` carries it to whichever process leads the agent. */
export type Order =
  | { readonly type: 'cancel'; readonly reason: string }
  /** Asks again after a failure; `without_last`: without the message that was refused, or the newest that the model saw. */
  | { readonly type: 'retry'; readonly without_last?: boolean }
  /** The answer to an ask (`store/answer-mail.ts`). */
  | {
      readonly type: 'answer';
      readonly ask_id: string;
      readonly verdict: 'allow' | 'deny';
      readonly note: string;
      readonly scope?: AskScope;
    }
  | ({ readonly type: 'capture' } & CaptureContent)
  /**
   * `id` is the child's, chosen by whoever orders; without a prompt it rests and waits for its first words. `captured`: the prompt is what was
   * captured, and the capture ends with it.
   */
  | {
      readonly type: 'fork';
      readonly id: string;
      readonly name: string;
      readonly prompt: string | null;
      readonly captured?: boolean;
    }
  /** Seed 1, `/wait`: ids of agents, or null for the next message from anyone. */
  | { readonly type: 'wait'; readonly timeout_ms: number; readonly from: readonly string[] | null };
