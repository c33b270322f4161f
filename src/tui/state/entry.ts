import type { PlacedMessage, ResultStatus } from '../../records/conversation/message.ts';

/** One entry of an agent's scrollback. A finished entry never changes, except that a person opens or closes it. */
export type Entry =
  | {
      readonly type: 'message';
      readonly seq: number;
      readonly message: PlacedMessage;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** A call with its result; null while it runs. */
  | {
      readonly type: 'call';
      /** Of the message with the call. */
      readonly seq: number;
      readonly call_id: string;
      readonly name: string;
      /** Raw JSON text. */
      readonly input: string;
      readonly result: { readonly status: ResultStatus; readonly output: string } | null;
      /** `allowed by you`; missing: nobody was asked, or nobody has answered yet. */
      readonly answered?: string;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** A notice of the program: what a command did, or why it failed. `seq`: of the newest message before it. */
  | {
      readonly type: 'say';
      readonly seq: number;
      readonly text: string;
      readonly tone: 'plain' | 'good' | 'bad';
    };

export type CallEntry = Extract<Entry, { readonly type: 'call' }>;
