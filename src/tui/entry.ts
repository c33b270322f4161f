import type { PlacedMessage } from '../core/message.ts';

/** One piece of an agent's scrollback. A finished entry never changes. */
export type Entry =
  | { readonly type: 'message'; readonly message: PlacedMessage; readonly inherited: boolean }
  /** A call with its result, one line; `result` null while it runs. */
  | {
      readonly type: 'call';
      readonly call_id: string;
      readonly name: string;
      /** Raw JSON text. */
      readonly input: string;
      readonly result: {
        readonly status: 'ok' | 'error' | 'denied' | 'interrupted' | 'cancelled';
        readonly output: string;
      } | null;
      readonly opened: boolean;
    }
  /** Something that the program itself says: what a command did, why it did not. */
  | { readonly type: 'say'; readonly text: string; readonly tone: 'plain' | 'good' | 'bad' };
