import type { Message } from '../conversation/message.ts';

/** What an earlier run has for a call (docs/workflows.md#rerun). */
export type EarlierCall =
  /** Its result. `now`: when that was recorded; `place`: among all results of that run. */
  | {
      readonly type: 'value';
      readonly reused: string;
      readonly value: unknown;
      readonly now: number;
      readonly place: number;
    }
  /** An agent that has not finished: its conversation, in which every call has a result. */
  | { readonly type: 'unfinished'; readonly messages: readonly Message[] }
  /** A workflow within that run, of which results are taken. */
  | { readonly type: 'run'; readonly run: string; readonly seed: string; readonly started_at: number };

/** How the output of a call begins whose result an earlier run had. */
export const REUSED = '{"reused":';
