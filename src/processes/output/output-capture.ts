import { isUtf8 } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { TerminalScreen } from '../../records/text/terminal-screen.ts';
import { SpillFile } from './spill-file.ts';

/** Bytes kept from the beginning and from the end of a command's output; together the maximum of a result. */
export const HEAD_BYTES = 16 * 1024;
export const TAIL_BYTES = 16 * 1024;
/** Maximum bytes of live output per second. */
export const LIVE_BYTES = 256 * 1024;

/**
 * Keeps the head and the tail of what a terminal would show of a command's output, and all of it in a spill file once it exceeds both. Live output is passed
 * on as it is. Memory is bounded, even for one line of a gigabyte.
 */
export class OutputCapture {
  readonly #spill_dir: string;
  readonly #onOutput: (text: string) => void;
  #screen = new TerminalScreen();
  readonly #live = new StringDecoder('utf8');
  #live_budget: number = LIVE_BYTES;
  #live_refilled_ms = 0;
  #live_skipped = 0;

  #total = 0;
  #head: Buffer | undefined;
  #head_length = 0;
  /** A ring buffer: `#tail_at` is where the next byte goes. */
  #tail: Buffer | undefined;
  #tail_at = 0;
  #tail_length = 0;
  #has_nul = false;
  #spill: SpillFile | undefined;

  constructor(spill_dir: string, onOutput: (text: string) => void) {
    this.#spill_dir = spill_dir;
    this.#onOutput = onOutput;
  }

  push(chunk: Buffer): void {
    this.#has_nul ||= chunk.includes(0);
    this.#show(chunk);
    this.#add(this.#screen.push(chunk.toString('latin1')));
  }

  #add(text: string): void {
    const chunk = Buffer.from(text, 'latin1');
    const overflows = this.#total + chunk.length > HEAD_BYTES + TAIL_BYTES;
    if (overflows && this.#spill === undefined) {
      this.#spill = new SpillFile(this.#spill_dir);
      for (const part of this.#kept()) this.#spill.write(part);
    }
    this.#spill?.write(chunk);
    this.#total += chunk.length;
    this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    let rest = chunk;
    if (this.#head_length < HEAD_BYTES) {
      this.#head ??= Buffer.allocUnsafe(HEAD_BYTES);
      const copied = rest.copy(this.#head, this.#head_length);
      this.#head_length += copied;
      rest = rest.subarray(copied);
    }
    if (rest.length === 0) return;
    const size = TAIL_BYTES;
    this.#tail ??= Buffer.allocUnsafe(size);
    if (rest.length > size) rest = rest.subarray(rest.length - size);
    const first = rest.copy(this.#tail, this.#tail_at);
    if (first < rest.length) rest.copy(this.#tail, 0, first);
    this.#tail_at = (this.#tail_at + rest.length) % size;
    this.#tail_length = Math.min(size, this.#tail_length + rest.length);
  }

  /** Returns the bytes in memory: the head, and the tail in order. */
  #kept(): [Buffer, Buffer] {
    const head = this.#head?.subarray(0, this.#head_length) ?? Buffer.alloc(0);
    if (this.#tail === undefined) return [head, Buffer.alloc(0)];
    if (this.#tail_length < TAIL_BYTES) return [head, this.#tail.subarray(0, this.#tail_length)];
    return [head, Buffer.concat([this.#tail.subarray(this.#tail_at), this.#tail.subarray(0, this.#tail_at)])];
  }

  /** Live output is for people: beyond what anyone can read, bytes are counted instead of shown. */
  #show(chunk: Buffer): void {
    const now_ms = performance.now();
    if (now_ms - this.#live_refilled_ms > 1000) {
      this.#live_refilled_ms = now_ms;
      this.#live_budget = LIVE_BYTES;
    }
    if (chunk.length > this.#live_budget) {
      this.#live_skipped += chunk.length;
      return;
    }
    this.#live_budget -= chunk.length;
    if (this.#live_skipped > 0) {
      this.#live.end();
      this.#onOutput(`\n[… ${this.#live_skipped} bytes not shown …]\n`);
      this.#live_skipped = 0;
    }
    const text = this.#live.write(chunk);
    if (text !== '') this.#onOutput(withoutNul(text));
  }

  /** Closes the spill file and returns the text for the result. */
  finish(): string {
    const rest = this.#live.end();
    if (rest !== '') this.#onOutput(rest);
    this.#add(this.#screen.end());
    return this.#text(this.#spill?.close());
  }

  /** As `finish`, of a command that may go on; what is on the screen is no longer rewritten. */
  soFar(): string {
    this.#add(this.#screen.end());
    this.#screen = new TerminalScreen();
    return this.#text(this.#spill?.place());
  }

  #text(spill: string | undefined): string {
    const [head, tail] = this.#kept();
    const left_out = this.#total - head.length - tail.length;
    let text: string;
    let is_text: boolean;
    if (left_out === 0) {
      const whole = tail.length === 0 ? head : Buffer.concat([head, tail]);
      text = whole.toString('utf8');
      is_text = isUtf8(whole);
    } else {
      const first = head.subarray(0, wholeCharacters(head));
      const last = tail.subarray(firstCharacter(tail));
      text = `${first.toString('utf8')}\n[… ${left_out} of ${this.#total} bytes left out; ${spill} …]\n${last.toString('utf8')}`;
      is_text = isUtf8(first) && isUtf8(last);
    }
    if (!this.#has_nul && is_text) return text;
    const end = text === '' || text.endsWith('\n') ? '' : '\n';
    return `${withoutNul(text)}${end}[the output contains binary data; NUL and bytes that are not UTF-8 are shown as \ufffd]`;
  }
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The length of `bytes` without a character that is cut off at its end. */
function wholeCharacters(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const first = bytes[start] ?? 0;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + needed > bytes.length ? start : bytes.length;
}

/** Where the first whole character of `bytes` starts. */
export function firstCharacter(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return start;
}
