import { diffArrays } from 'diff';
import { orElse } from '../records/coppice-error.ts';
import { keepNewest } from '../records/kept-in.ts';
import { parseJson } from '../records/text/json-text.ts';
import type { FileChange } from '../store/read-records.ts';
import { type Edit, editText } from '../tools/files/edit-text.ts';
import { hashBytes } from '../tools/files/file-hash.ts';

/** A change with the texts before and after it; null if the ledger does not tell. */
export interface FileVersion {
  readonly change: FileChange;
  readonly before: string | null;
  readonly after: string | null;
}

/** Maximum changes of one file that are read, the newest; lines of older ones count as `before`. */
export const CHANGES_MAX = 2_000;
/** Maximum texts cached for the changes that build on them. */
const TEXTS_KEPT = 64;
/** Maximum edits in a comparison of two versions; beyond it, all lines between the first and the last that differ count as changed. */
const COMPARE_EDITS = 1_000;

/**
 * Replays the calls that changed a file, each after the one that it builds on. Agents commit at different times, so hashes decide the order, not
 * the ledger's (that of `newest_first`). A text is known if the ledger stores it with a change, or if it follows from earlier changes.
 */
export function* fileVersions(newest_first: readonly FileChange[]): Generator<FileVersion> {
  const to_come = new Map<string, number>();
  for (const { result } of newest_first)
    to_come.set(result.file.hash, (to_come.get(result.file.hash) ?? 0) + 1);
  const texts = new Map<string, string>();
  const waiting = new Map<string, FileChange[]>();
  const queue = [...newest_first];
  for (;;) {
    const change = queue.pop();
    if (change === undefined) {
      // The remaining changes form a cycle: the text before them is not known.
      const [stuck] = waiting;
      if (stuck === undefined) return;
      to_come.delete(stuck[0]);
      release(stuck[0]);
      continue;
    }
    const { before: from, base, hash } = change.result.file;
    const before = base ?? (typeof from === 'string' ? (texts.get(from) ?? null) : '');
    if (before === null && typeof from === 'string' && from !== hash && (to_come.get(from) ?? 0) > 0) {
      waiting.set(from, [...(waiting.get(from) ?? []), change]);
      continue;
    }
    const after = textAfter(change, before);
    if (after !== null) keepNewest(texts, hash, after, TEXTS_KEPT);
    yield { change, before, after };
    to_come.set(hash, (to_come.get(hash) ?? 1) - 1);
    release(hash);
  }

  function release(hash: string): void {
    queue.push(...(waiting.get(hash) ?? []).reverse());
    waiting.delete(hash);
  }
}

/** The text after a change; null if unknown. Compares hashes, because two calls of an answer may have the same id. */
function textAfter({ result, answer }: FileChange, before: string | null): string | null {
  for (const part of answer?.parts ?? []) {
    if (part.type !== 'call' || part.id !== result.call_id) continue;
    const { name, input } = part.read ?? part;
    const text = name === result.name ? textOfCall(input, before) : null;
    if (text !== null && hashBytes(text) === result.file.hash) return text;
  }
  return null;
}

function textOfCall(input: string, before: string | null): string | null {
  const json = parseJson(input);
  if (!json.ok) return null;
  const { content, edits } = json.value as { readonly content?: string; readonly edits?: readonly Edit[] };
  if (typeof content === 'string') return content;
  // What another version wrote, whose rules for edits differ, is not known.
  return before === null || edits === undefined ? null : orElse(() => editText(before, edits), null);
}

/** Origin of a line: a change in the ledger; `before`: there before the first change; `outside`: written later by no recorded change. */
export type LineOwner = FileChange | 'before' | 'outside';

export interface OwnedLine {
  readonly text: string;
  readonly owner: LineOwner;
}

/** Returns who wrote each line of the present text. `whole`: no change was left out because its text is unknown. */
export function ownersOf(
  newest_first: readonly FileChange[],
  present: string,
): { readonly lines: readonly OwnedLine[]; readonly whole: boolean } {
  let lines: readonly OwnedLine[] | null = null;
  let [text, whole] = ['', true];
  const become = (next: string, owner: LineOwner): void => {
    if (lines === null || next !== text) lines = merged(lines ?? [], next, owner);
    text = next;
  };
  for (const { change, before, after } of fileVersions(newest_first)) {
    if (before !== null) become(before, lines === null ? 'before' : 'outside');
    if (after === null) whole = false;
    else become(after, change);
  }
  become(present, lines === null ? 'before' : 'outside');
  return { lines: lines ?? [], whole };
}

/** The lines of the new text; lines that were there before keep their owner. */
function merged(lines: readonly OwnedLine[], text: string, owner: LineOwner): readonly OwnedLine[] {
  const next = linesOf(text);
  const shorter = Math.min(lines.length, next.length);
  let start = 0;
  while (start < shorter && lines[start]?.text === next[start]) start += 1;
  let end = 0;
  while (end < shorter - start && lines.at(-1 - end)?.text === next.at(-1 - end)) end += 1;
  const old = lines.slice(start, lines.length - end);
  const fresh = next.slice(start, next.length - end);
  const middle: OwnedLine[] = [];
  const texts = old.map((line) => line.text);
  const parts = diffArrays(texts, fresh, { maxEditLength: COMPARE_EDITS }) ?? [
    { added: true, removed: false, value: fresh },
  ];
  let at = 0;
  for (const { added, removed, value } of parts) {
    if (added) middle.push(...value.map((one) => ({ text: one, owner })));
    else {
      if (!removed) middle.push(...old.slice(at, at + value.length));
      at += value.length;
    }
  }
  return [...lines.slice(0, start), ...middle, ...lines.slice(lines.length - end)];
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
