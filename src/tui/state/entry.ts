import type { PlacedMessage, ResultContent } from '../../records/conversation/message.ts';

/** The tone of a notice; `difference`: coloured line by line. */
export type Tone = 'plain' | 'good' | 'bad' | 'difference';

/** One entry of an agent's scrollback. A finished entry never changes, except that a person opens or closes it. */
export type Entry =
  | {
      readonly type: 'message';
      readonly seq: number;
      readonly message: PlacedMessage;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** A call with its result, which is null while the call runs. */
  | {
      readonly type: 'call';
      /** Seq of the message with the call. */
      readonly seq: number;
      readonly call_id: string;
      readonly name: string;
      /** Raw JSON text, as it was read. */
      readonly input: string;
      /** What was read otherwise than the model wrote it. */
      readonly changes?: readonly string[];
      readonly result: Pick<ResultContent, 'status' | 'output' | 'facts'> | null;
      /** `allowed by you`; missing if nobody was asked, or nobody has answered yet. */
      readonly answered?: string;
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** Consecutive calls of one message that fork agents, as one row. */
  | {
      readonly type: 'forks';
      readonly seq: number;
      readonly calls: readonly CallEntry[];
      readonly inherited: boolean;
      readonly opened: boolean;
    }
  /** A notice of the program: what a command did, or why it failed. `seq`: that of the newest message before it. */
  | {
      readonly type: 'say';
      readonly seq: number;
      readonly text: string;
      readonly tone: Tone;
    };

export type CallEntry = Extract<Entry, { readonly type: 'call' }>;
export type ForksEntry = Extract<Entry, { readonly type: 'forks' }>;

export function callsOf(entry: Entry): readonly CallEntry[] {
  if (entry.type === 'forks') return entry.calls;
  return entry.type === 'call' ? [entry] : [];
}

/** The entry with its call at index `place` replaced. */
export function withCall(entry: Entry, place: number, call: CallEntry): Entry {
  return entry.type === 'forks' ? { ...entry, calls: entry.calls.with(place, call) } : call;
}

/** Whether any call of the entry has no result yet. */
export function isUnfinished(entry: Entry): boolean {
  return callsOf(entry).some(({ result }) => result === null);
}
