import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from './output.ts';

/** After so many bytes it looks again how much of the folder's share is left. */
const LOOK_BYTES = 8 * 1024 * 1024;

/**
 * Where output goes that does not fit a result: one private file, up to a quota of its own and one for its folder. It writes synchronously, so
 * that nothing queues up in memory when a command is faster than the disk. It never throws: a full disk is
 * told in the result.
 */
export class SpillFile {
  readonly #folder: string;
  readonly #path: string;
  #descriptor: number | undefined;
  #written = 0;
  #discarded = 0;
  /** It may grow to this size before it looks at the folder again. */
  #allowed = 0;
  #full = false;
  #problem: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, `output-${randomUUID()}.txt`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
      this.#descriptor = openSync(this.#path, flags, 0o600);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#problem = (error as NodeJS.ErrnoException).code ?? String(error);
  }

  write(bytes: Buffer): void {
    if (this.#written + bytes.length > this.#allowed && !this.#full) this.#look();
    const room = Math.max(0, Math.min(limits.spill_bytes, this.#allowed) - this.#written);
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

  #look(): void {
    const left = limits.spill_tree_bytes - sizeOf(this.#folder);
    this.#full = left < LOOK_BYTES;
    this.#allowed = this.#written + Math.max(0, Math.min(left, LOOK_BYTES));
  }

  /** Closes the file and says, in half a sentence, what is where. */
  close(): string {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (this.#problem !== undefined && this.#written === 0)
      return `could not be kept on disk (${this.#problem})`;
    if (this.#problem !== undefined)
      return `the first ${this.#written} bytes are in ${this.#path}, then writing failed (${this.#problem})`;
    if (this.#discarded > 0)
      return `the first ${this.#written} bytes are in ${this.#path}, ${this.#discarded} bytes were discarded`;
    return `the whole output is in ${this.#path}`;
  }
}

/** Bytes of the files in a folder; nothing where it cannot be read. */
function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce(
      (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}
