import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { WriteStream } from 'node:tty';

/** How often a terminal that takes nothing is tried again. */
const RETRY_MS = 20;
const NOTHING = Buffer.alloc(0);

/**
 * Writes to a terminal without waiting for it: Node's streams block the process while a terminal takes nothing (flow control, a connection that is stuck),
 * and with it every agent.
 */
export class TerminalOutput {
  readonly #stream: WriteStream;
  readonly #onTaken: () => void;
  /** A descriptor of its own, which does not block; null where there is none. */
  readonly #fd: number | null;
  #left: Buffer = NOTHING;
  #retry: NodeJS.Timeout | null = null;

  constructor(stream: WriteStream, onTaken: () => void) {
    this.#stream = stream;
    this.#onTaken = onTaken;
    this.#fd = opened(stream);
  }

  /** Whether the terminal has taken all of it. */
  get taken(): boolean {
    return this.#left.length === 0;
  }

  write(text: string): void {
    if (this.#fd === null) return void this.#stream.write(text);
    this.#left = Buffer.concat([this.#left, Buffer.from(text)]);
    if (this.#retry === null) this.#push(this.#fd);
  }

  #push(fd: number): void {
    this.#retry = null;
    try {
      while (!this.taken) this.#left = this.#left.subarray(writeSync(fd, this.#left));
    } catch (error) {
      // The stream reports what has become of the terminal.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return this.flush();
      this.#retry = setTimeout(() => {
        this.#push(fd);
        if (this.taken) this.#onTaken();
      }, RETRY_MS);
    }
  }

  /** Waits until the terminal has taken all of it: others write to it from here on. */
  flush(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    const left = this.#left;
    this.#left = NOTHING;
    if (left.length > 0) this.#stream.write(left);
  }

  close(): void {
    this.flush();
    if (this.#fd !== null) closeSync(this.#fd);
  }
}

function opened({ isTTY, fd }: WriteStream & { readonly fd?: number }): number | null {
  if (isTTY !== true || fd === undefined) return null;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return null;
  }
}
