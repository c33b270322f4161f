/** Files as a channel: deliveries are appended. */

import { isAbsolute } from 'node:path';
import { within } from '../../processes/waiting.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from '../channel.ts';
import { deliveryJson } from '../parcel-json.ts';
import { unknownName } from '../unknown-name.ts';
import { appendWhole } from './append-whole.ts';

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
    await appendWhole(path, JSON_LINES.test(path) ? `${deliveryJson(parcel)}\n` : section(parcel));
    return { type: 'delivered' };
  } catch (error) {
    return fileFailure(path, error);
  }
}

function section(parcel: Parcel): string {
  return `## ${new Date(parcel.created_at).toISOString()} · ${parcel.id}\n\n${parcel.text}\n\n`;
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
