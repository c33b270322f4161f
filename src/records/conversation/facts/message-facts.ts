import { cutText } from '../../text/cut-text.ts';
import type { JsonObject } from '../../text/json-text.ts';
import { REASON } from '../../text/untrusted-text.ts';
import type { Completion } from './completion.ts';
import type { WaitResult } from './wait-row.ts';
import type { WorkflowWait } from './workflow-wait.ts';

/**
 * Facts stand in the ledger beside the text that a model was given, which never changes, so that viewers, queries and the runtime need not read
 * that text. They are never sent to a model. Rows of versions that wrote none: `old-facts.ts`.
 */

/** Part of the text beside which it is stored: its first UTF-16 code unit, and the first one behind it. */
export type TextRange = readonly [start: number, end: number];

/** A message of a person with attachments: the length of what they wrote, which comes first, and for people what follows, on one line each. */
export interface Attached {
  readonly typed: number;
  readonly labels: readonly string[];
}

/** The letter in a frame: who wrote it, what they had really done by then, and the report that it is, if it is one. */
export interface FramedLetter {
  readonly from_id: string;
  readonly from_name: string;
  readonly did?: string;
  readonly completion?: Completion;
}

/** Text that is not of Coppice, in its frame (`framed`). */
export interface Frame {
  readonly frame: TextRange;
  readonly inside: TextRange;
  /** Set for the reason of an end, which goes on the line before the frame. */
  readonly reason?: true;
  readonly letter?: FramedLetter;
}

/** What a fan-in tells of a child: how it ended, and for people the beginnings of its task and of what it said. */
export interface FanInRow {
  readonly agent_id: string;
  readonly task: string;
  readonly said: string;
  /** Absent: it succeeded. */
  readonly error_kind?: string;
  readonly limit?: string;
  readonly did?: string;
}

/** Facts of a text that a model was told. */
export interface UserFacts {
  /** Letters that left the mailbox with the message; `from_id`: null for a person. */
  readonly letters?: readonly { readonly id: string; readonly from_id: string | null }[];
  readonly attached?: Attached;
  readonly frames?: readonly Frame[];
  /** What woke a workflow run that rested, because it was interrupted or failed: its script gets this as it does from a wait. */
  readonly arrived?: WorkflowWait;
  /** The senders that a notice of new mail names. */
  readonly notice?: readonly string[];
  /** Children in the order in which they were created. */
  readonly fan_in?: readonly FanInRow[];
  /** The fork that the text tells who it is, and where its task begins. */
  readonly fork?: { readonly name: string; readonly task: number };
}

/** Facts of the result of a call; `attached`: of the person's letter that ended a wait. */
export interface ResultFacts extends Pick<UserFacts, 'letters' | 'attached'> {
  readonly waited?: WaitResult;
  /** Agents that the call created. */
  readonly created?: readonly string[];
  /** Why the call was refused, in words. */
  readonly refused?: string;
}

/** The frames with this delimiter in a text; `letters`: what is in them. */
export function framesIn(text: string, delimiter: string, letters: readonly FramedLetter[] = []): Frame[] {
  const end = `\\n--- ${delimiter} end$`;
  const frame = `^--- ${delimiter} (.*)\\n([\\s\\S]*?)(?:\\n--- ${delimiter} did: .*)?${end}`;
  return [...text.matchAll(new RegExp(frame, 'dgm'))].map(({ indices, 1: head }, index) => {
    const [frame, , inside] = indices as TextRange[] as [TextRange, TextRange, TextRange];
    const letter = letters[index];
    return { frame, inside, ...(head === REASON && { reason: true }), ...(letter && { letter }) };
  });
}

/** The text without its frames, for people, who see in another way who is speaking; with `named`, the heads of the frames stay. */
export function withoutFrames(text: string, frames: readonly Frame[] = [], named = false): string {
  let [shown, at] = ['', 0];
  for (const { frame, inside, reason, letter } of frames) {
    const before = text.slice(at, frame[0]);
    shown += reason === true ? before.replace(/\n$/, ' ') : before;
    if (named) shown += `${text.slice(text.indexOf(' ', frame[0] + 4) + 1, inside[0] - 1)}:\n`;
    shown += text.slice(...inside);
    if (letter?.did !== undefined) shown += `\n(it did: ${letter.did})`;
    at = frame[1];
  }
  return shown + text.slice(at);
}

/** What a person wrote, without what they attached. */
export function typedText(text: string, attached: Attached | undefined): string {
  return attached === undefined ? text : text.slice(0, attached.typed);
}

/** Maximum characters of a fact for one line. */
export const SAID_MAX = 1_000;

/** A row of the documented format (docs/vocabularies.md). */
export function fanInRow({ agent_id, task, outcome, did }: JsonObject): FanInRow {
  const { success, failure } = (outcome ?? {}) as Partial<Record<'success' | 'failure', JsonObject>>;
  const limit = success?.limit;
  return {
    agent_id: String(agent_id),
    task: cutText(String(task), SAID_MAX),
    said: cutText(String(success?.result ?? failure?.error ?? ''), SAID_MAX),
    ...(success === undefined ? { error_kind: String(failure?.error_kind ?? 'failed') } : {}),
    ...(typeof limit === 'string' ? { limit } : {}),
    ...(typeof did === 'string' ? { did } : {}),
  };
}
