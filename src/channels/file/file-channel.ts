/** Files as a channel: deliveries are appended. */

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../processes/waiting.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from '../channel.ts';
import { deliveryJson } from '../parcel-json.ts';
import { unknownName } from '../unknown-name.ts';

const TIME_LIMIT_MS = 10_000;
const JSON_LINES = /\.(?:jsonl|ndjson)$/i;

/** Error codes that no retry can fix, with the cause and the remedy. */
const PERMANENT: Readonly<Record<string, string>> = {
  EACCES: 'may not be written: change its permissions, or name another file',
  EPERM: 'may not be written: change its permissions, or name another file',
  EROFS: 'is on a read-only file system: name another file',
  EISDIR: 'is a folder: name a file in it',
  ENOENT: 'is in a folder that does not exist: create the folder',
  ENOTDIR: 'is below something that is not a folder: name another file',
  ELOOP: 'is a symbolic link that leads to itself: name another file',
  ENAMETOOLONG: 'has a name that is too long: name another file',
  ENXIO: 'is a socket: name a file',
  EPIPE: 'is a pipe, which does not store what is written: name a file',
};

/**
 * The channel `file`: an address is the name of a configured file or an absolute path. Appends one line of `coppice/delivery/v1` to `*.jsonl` and
 * `*.ndjson`, a section of Markdown to other files. Throws `E_CONFIG` for a configured path that is not absolute.
 */
export function openFile(files: Readonly<Record<string, string>>): Channel {
  const known = new Map(Object.entries(files));
  for (const [name, path] of known) {
    if (isFilePath(path)) continue;
    throw new CoppiceError('E_CONFIG', `the file "${name}" has no absolute path`, {
      hint: 'It begins at the root of the file system and ends with the name of a file.',
    });
  }
  const closing = new AbortController();
  const pathOf = (address: string) => known.get(address) ?? (isFilePath(address) ? address : null);
  const unknown = (address: string) =>
    `${unknownName('file', address, [...known.keys()])} (an absolute path to a file is taken too)`;

  async function deliver(parcel: Parcel, { signal }: DeliverContext): Promise<DeliverResult> {
    const path = pathOf(parcel.address);
    if (path === null) return { type: 'failed', error: unknown(parcel.address) };
    const stop = AbortSignal.any([signal, closing.signal]);
    if (stop.aborted)
      return { type: 'retry', error: `nothing was written to ${path}: stopped`, after_ms: null };
    // A write to a network file system can hang, and cannot be aborted.
    const outcome = await within(append(path, parcel), stop, TIME_LIMIT_MS);
    if (outcome.type === 'done') return outcome.value;
    const why = outcome.type === 'late' ? `within ${TIME_LIMIT_MS / 1000} s` : 'before the stop';
    return { type: 'retry', error: `${path} was not written ${why}`, after_ms: null };
  }

  return {
    name: 'file',
    check: (address) => (pathOf(address) === null ? unknown(address) : null),
    deliver,
    close: async () => closing.abort(),
  };
}

function isFilePath(path: string): boolean {
  return isAbsolute(path) && !path.includes('\0') && !/[\\/]$/.test(path);
}

async function append(path: string, parcel: Parcel): Promise<DeliverResult> {
  try {
    const section = `## ${new Date(parcel.created_at).toISOString()} · ${parcel.id}\n\n${parcel.text}\n\n`;
    await appendWhole(path, JSON_LINES.test(path) ? `${deliveryJson(parcel)}\n` : section);
    return { type: 'delivered' };
  } catch (error) {
    return fileFailure(path, error);
  }
}

/** Result of a failed write. Errors not listed as permanent are retried, since they may pass, such as a full disk or a lost share. */
export function fileFailure(path: string, error: unknown): DeliverResult {
  if (error instanceof RangeError)
    return {
      type: 'failed',
      error: `the delivery cannot be written to ${path}: one of its times is invalid`,
    };
  const { code, name } = error as NodeJS.ErrnoException;
  const wrong = PERMANENT[code ?? ''];
  if (wrong !== undefined) return { type: 'failed', error: `${path} ${wrong} (${code})` };
  return { type: 'retry', error: `${path} cannot be written now (${code ?? name})`, after_ms: null };
}

const { O_APPEND, O_CREAT, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;
/** Time without growth after which a last line without a newline counts as cut off; until then another process may still be writing it. */
const SETTLE_MS = 50;
const SETTLE_READS = 5;

/**
 * Appends a text that ends with a newline, in one write so that the texts of several processes do not mix, and waits until it is on disk. First
 * terminates a last line that a crash cut off. Creates the file (mode 0600), but no folder. Rejects with the system's error.
 */
async function appendWhole(path: string, text: string): Promise<void> {
  // O_NONBLOCK: opening a pipe that nobody reads would block.
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | (O_NONBLOCK ?? 0), 0o600);
  try {
    if ((await file.stat()).isFIFO()) throw failure('EPIPE', 'a pipe does not store what is written');
    const { cut, fresh } = await lastLine(file);
    const bytes = Buffer.from(cut ? `\n${text}` : text, 'utf8');
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, null);
    // The next try terminates the incomplete line.
    if (bytesWritten < bytes.length) throw failure('ENOSPC', 'only a part was written');
    await flush(file);
    if (fresh) await flushFolder(dirname(path));
  } finally {
    await file.close();
  }
}

async function lastLine(file: FileHandle): Promise<{ readonly cut: boolean; readonly fresh: boolean }> {
  let before = -1;
  for (let reads = 0; reads < SETTLE_READS; reads += 1) {
    const { size } = await file.stat();
    if (size === 0) return { cut: false, fresh: true };
    if (size === before) break;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    if (bytesRead === 0 || buffer[0] === NEWLINE) return { cut: false, fresh: false };
    before = size;
    await sleep(SETTLE_MS);
  }
  return { cut: true, fresh: false };
}

/** Syncs the file; ignores the errors of devices, which cannot be synced. */
async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  }
}

/** Syncs the folder, so that the entry of a new file survives a power failure. Best effort: not every system supports it. */
async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY);
    await handle.sync().finally(() => handle.close());
  } catch {
    // The text itself is on disk.
  }
}

function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
