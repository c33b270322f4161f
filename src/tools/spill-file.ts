import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from './output.ts';

/**
 * Where output goes that does not fit a result: one private file, up to a quota. It writes synchronously, so
 * that nothing queues up in memory when a command is faster than the disk. It never throws: a full disk is
 * told in the result.
 */
export class SpillFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #written = 0;
  #discarded = 0;
  #problem: string | undefined;

  constructor(folder: string) {
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
    const room = limits.spill_bytes - this.#written;
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
