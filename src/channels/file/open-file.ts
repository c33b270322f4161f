import { isAbsolute } from 'node:path';
import { within } from '../../processes/waiting.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Channel, DeliverContext, DeliverResult, Parcel } from '../channel.ts';
import { deliveryJson } from '../delivery-json.ts';
import { unknownName } from '../unknown-name.ts';
import { appendWhole } from './append-whole.ts';
import { fileFailure } from './file-failure.ts';

const TIME_LIMIT_MS = 10_000;
const JSON_LINES = /\.(?:jsonl|ndjson)$/i;

/**
 * The channel `file`: an address is the name of a configured file, or an absolute path. Appends one line of
 * `coppice/delivery/v1` to `*.jsonl` and `*.ndjson`, a section of Markdown to any other. Throws `E_CONFIG` for a path that is not absolute.
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
    // A file system of another machine can hang for good, and no signal reaches it.
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
