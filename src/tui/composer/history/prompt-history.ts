import { hash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../../records/coppice-error.ts';
import { jsonIn } from '../../../records/text/json-text.ts';

/** Maximum size of an entry in the file; a longer text is kept in memory only. */
const ENTRY_BYTES_MAX = 32 * 1024;
/** Size above which the file is rotated, replacing the one rotated before. */
const FILE_BYTES_MAX = 256 * 1024;

/**
 * The texts that the person sent from one folder, oldest first, in files that several processes append to; what other processes append
 * is read at the next start. Best effort: if the files cannot be read or written, the history is kept in memory only.
 */
export class PromptHistory {
  readonly #file: string;
  readonly #entries: string[];

  /** `folder`: holds the histories of all folders; `place`: the folder in which the person works. */
  constructor(folder: string, place: string) {
    this.#file = join(folder, `${hash('sha256', place).slice(0, 16)}.jsonl`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch {
      // Best effort: reads and writes will fail, too.
    }
    this.#entries = [older(this.#file), this.#file].flatMap(readEntries);
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  add(text: string): void {
    if (text.trim() === '' || this.#entries.at(-1) === text) return;
    this.#entries.push(text);
    // The line break comes first: it also ends a line that a crash has cut short.
    const line = `\n${JSON.stringify(text)}`;
    if (Buffer.byteLength(line) > ENTRY_BYTES_MAX) return;
    try {
      if (sizeOf(this.#file) > FILE_BYTES_MAX) renameSync(this.#file, older(this.#file));
      // A single append, so that texts of several processes do not interleave.
      appendFileSync(this.#file, line, { mode: 0o600 });
    } catch {
      // The entry is kept in memory only.
    }
  }
}

function older(file: string): string {
  return `${file}.old`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readEntries(file: string): string[] {
  return orElse(() => readFileSync(file, 'utf8').split('\n').flatMap(entryOf), []);
}

function entryOf(line: string): string[] {
  const entry = jsonIn(line);
  // Otherwise an empty line, or one that was cut short by a crash or is being written.
  return typeof entry === 'string' ? [entry] : [];
}
