import { isUtf8 } from 'node:buffer';
import { mkdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainedPath } from '../../permissions/path-containment.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { ProcessLock } from '../../processes/process-lock.ts';
import type { FileStamp } from '../../records/conversation/message.ts';
import { breaksIn } from '../../records/text/text.ts';
import type { SeenContext, ToolContext } from '../../records/tool.ts';
import { writeContained } from './atomic-write.ts';
import { HASH_BYTES, type HashedFile, hashBytes, hashContained } from './file-hash.ts';
import { isBinary } from './file-kind.ts';

/** Maximum bytes of the previous text that are kept with a change. */
const BASE_MAX = 200_000;
/** Matches one hash in 256: such a change keeps the previous text anyway, so that a replay of changes need not begin with the first. */
const KEEPS_TEXT = /^A[A-P]/;

interface Unseen {
  readonly path: ContainedPath;
  readonly seen: string | undefined;
  readonly now: string;
}

/**
 * Changes a file under these laws:
 * C1. The content of the file at that moment is what the agent has seen of it, or there is no file. With `quotes`, an agent that has seen none of it may
 *     change it too: `change` checks what the agent quotes of it.
 * C2. Between that check and the change, no other call of `write` or `patch` changes a file, in this process or in another one with the same
 *     data folder. Commands and other programs can do so at any time: only C1's comparison of content detects them.
 *
 * `change` returns the new content; `before` is null if there is no file. Throws an Error for the model.
 */
export async function changeFile(
  locate: () => ContainedPath,
  change: (path: ContainedPath, before: HashedFile | null) => Buffer,
  { files, spill_dir, signal }: ToolContext,
  quotes = false,
): Promise<FileStamp> {
  const done = await withFileLock(dirname(spill_dir), signal, (): FileStamp | Unseen => {
    const path = locate();
    const before = path.exists ? hashContained(path) : null;
    const unseen = unseenIn(path, before, files, quotes);
    if (unseen !== null) return unseen;
    const content = change(path, before);
    writeContained(path, content);
    const hash = content.length > HASH_BYTES ? hashContained(path)?.hash : hashBytes(content);
    return stampOf(
      { path: path.absolute, hash: hash ?? '', before: before?.hash ?? null },
      before,
      content,
      files,
    );
  });
  if ('now' in done) throw new Error(await refusalOf(done, files));
  return done;
}

/**
 * Restores a file for a person: `text` (null: no file) replaces the content with the hash `from` (null: no file). Resolves to false, and changes nothing, if
 * the file holds something else.
 */
export function restoreFile(
  locate: () => ContainedPath,
  from: string | null,
  text: string | null,
  lock_folder: string,
): Promise<boolean> {
  return withFileLock(lock_folder, new AbortController().signal, () => {
    const path = locate();
    const present = path.exists ? hashContained(path)?.hash : null;
    if (present !== from) return false;
    if (text === null) unlinkSync(path.absolute);
    else writeContained(path, text);
    return true;
  });
}

function unseenIn(
  path: ContainedPath,
  present: HashedFile | null,
  files: SeenContext | undefined,
  quotes: boolean,
): Unseen | null {
  const seen = files?.seen(path.absolute);
  if (quotes && seen === undefined) return null;
  if (files === undefined || present === null || seen === present.hash) return null;
  return { path, seen, now: present.hash };
}

/** Why a change would be refused because of the file's present content; null if it would not. */
export async function unseenRefusal(
  path: ContainedPath,
  files: SeenContext | undefined,
  quotes = false,
): Promise<string | null> {
  const unseen = unseenIn(path, path.exists ? hashContained(path) : null, files, quotes);
  return unseen === null ? null : refusalOf(unseen, files);
}

async function refusalOf({ path, seen, now }: Unseen, files: SeenContext | undefined): Promise<string> {
  const by = await files?.changedBy(path.absolute, seen, now);
  const shown = printablePath(path.relative);
  const call = `read ${JSON.stringify({ path: shown })}`;
  if (seen === undefined)
    return `${shown} exists, and you have not seen what is in it${by ? ` (changed ${by})` : ''}: call ${call} first`;
  return `${shown} changed since you saw it, ${by ?? 'not by write or patch of an agent'}: call ${call} again`;
}

function stampOf(
  stamp: FileStamp,
  before: HashedFile | null,
  after: Buffer,
  files: SeenContext | undefined,
): FileStamp {
  const old = before === null ? Buffer.alloc(0) : before.bytes;
  if (old === null) return stamp;
  const lines = changedLines(old, after);
  const recorded = before === null || files?.isRecorded(stamp.path, before.hash) !== false;
  const keeps = !recorded || KEEPS_TEXT.test(stamp.hash);
  if (!keeps || old.length > BASE_MAX || isBinary(old) || !isUtf8(old)) return { ...stamp, lines };
  return { ...stamp, lines, base: old.toString('utf8') };
}

/** First and last line of `after` that differ from `before`. */
function changedLines(before: Buffer, after: Buffer): readonly [number, number] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const first = 1 + breaksIn(after.subarray(0, start));
  // A line includes its line break.
  return [first, first + breaksIn(after.subarray(start, Math.max(start, after.length - end - 1)))];
}

const PAUSE_MS = 2;
const WAIT_MS = 10_000;

/** Runs `change`, which must be synchronous, under a lock that all processes with the same data folder share. */
async function withFileLock<T>(folder: string, signal: AbortSignal, change: () => T): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const lock = new ProcessLock(join(folder, 'changes.lock'));
  try {
    for (let waited_ms = 0; !lock.take(); waited_ms += PAUSE_MS) {
      if (waited_ms >= WAIT_MS) throw new Error('another process keeps changing files: try again');
      await sleep(PAUSE_MS, undefined, { signal });
    }
    return change();
  } finally {
    lock.close();
  }
}
