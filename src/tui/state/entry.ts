import type { PlacedMessage, ResultStatus } from '../../records/conversation/message.ts';

/** One piece of an agent's scrollback, at its place. A finished entry never changes, except that a person opens or closes it. */
export type Entry =
  | {
      readonly type: 'message';
      readonly seq: number;
      readonly message: PlacedMessage;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** A call with its result, one line; `result` null while it runs. */
  | {
      readonly type: 'call';
      /** Of the message that made the call. */
      readonly seq: number;
      readonly call_id: string;
      readonly name: string;
      /** Raw JSON text. */
      readonly input: string;
      readonly result: { readonly status: ResultStatus; readonly output: string } | null;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** Something that the program itself says: what a command did, why it did not. `seq` is that of the newest message before it. */
  | {
      readonly type: 'say';
      readonly seq: number;
      readonly text: string;
      readonly tone: 'plain' | 'good' | 'bad';
    };

export type CallEntry = Extract<Entry, { readonly type: 'call' }>;
