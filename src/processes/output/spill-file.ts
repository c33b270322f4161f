import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../records/coppice-error.ts';
import { TIMEOUT_MAX_SECONDS } from '../limits/command-budget.ts';
import { OPEN, TREE_BYTES } from './spill-folder.ts';

/** Bytes of one command's output kept in its file; the rest is counted and discarded. */
export const SPILL_BYTES = 64 * 1024 * 1024;

/** Minimum room in the folder; also the bytes written between two measurements of it. */
const MEASURE_BYTES = 8 * 1024 * 1024;

/**
 * Output that does not fit a result: one private file with a quota of its own. When the folder's quota is used up, its oldest files are removed.
 * Writes are synchronous, so that nothing queues up in memory if a command is faster than the disk. Never throws: the result reports a full disk.
 */
export class SpillFile {
  readonly #folder: string;
  readonly #path: string;
  #descriptor: number | undefined;
  #written = 0;
  #discarded = 0;
  /** Size to which the file may grow before the folder is measured again. */
  #allowed = 0;
  #full = false;
  #problem: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, `output-${randomUUID()}.txt`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
      this.#descriptor = openSync(this.#path + OPEN, flags, 0o600);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#problem = (error as NodeJS.ErrnoException).code ?? String(error);
  }

  write(bytes: Buffer): void {
    if (this.#written + bytes.length > this.#allowed && !this.#full) this.#measure();
    const room = Math.max(0, Math.min(SPILL_BYTES, this.#allowed) - this.#written);
    const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
    this.#discarded += bytes.length - part.length;
    if (this.#descriptor === undefined || this.#problem !== undefined) return;
    try {
      for (let at = 0; at < part.length; ) {
        const count = writeSync(this.#descriptor, part, at);
        at += count;
        this.#written += count;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #measure(): void {
    const files = filesIn(this.#folder);
    let left = TREE_BYTES - files.reduce((sum, { bytes }) => sum + bytes, 0);
    // No command runs longer: an older open file was left behind by a process that died.
    const dead = Date.now() - 1000 * TIMEOUT_MAX_SECONDS;
    for (const { path, bytes, at } of files) {
      if (left >= MEASURE_BYTES) break;
      if (
        (at < dead || !path.endsWith(OPEN)) &&
        orElse(() => rmSync(path, { force: true }), null) === undefined
      )
        left += bytes;
    }
    this.#full = left < MEASURE_BYTES;
    this.#allowed = this.#written + Math.max(0, Math.min(left, MEASURE_BYTES));
  }

  #close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    try {
      renameSync(this.#path + OPEN, this.#path);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Closes the file and returns a clause that says where the output is. */
  close(): string {
    this.#close();
    return this.place();
  }

  /** The clause, also while the file is still open. */
  place(): string {
    if (this.#problem !== undefined && this.#written === 0)
      return `could not be kept on disk (${this.#problem})`;
    if (this.#problem !== undefined)
      return `the first ${this.#written} bytes are in ${this.#path}, then writing failed (${this.#problem})`;
    if (this.#discarded > 0)
      return `the first ${this.#written} bytes are in ${this.#path}, ${this.#discarded} bytes were discarded`;
    return `the whole output is in ${this.#path}`;
  }
}

/** The files in a folder, oldest first; none if it cannot be read. */
function filesIn(folder: string): { readonly path: string; readonly bytes: number; readonly at: number }[] {
  const names = orElse(() => readdirSync(folder), []);
  const files = names.flatMap((name) => {
    const path = join(folder, name);
    const status = orElse(() => statSync(path, { throwIfNoEntry: false }), undefined);
    return status === undefined ? [] : [{ path, bytes: status.size, at: status.mtimeMs }];
  });
  return files.sort((one, other) => one.at - other.at);
}
