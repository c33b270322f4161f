import { readSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import { cutText } from '../../records/text/cut-text.ts';
import type { ToolResult } from '../../records/tool.ts';
import { isBinary } from './file-kind.ts';

/** Maximum bytes of a result, and characters shown of a line. */
export const READ_BYTES = 50 * 1024;
const LINE_CHARACTERS = 2_000;

const chunk_bytes = 64 * 1024;
/** Maximum bytes kept of a line; a character takes at most four. */
const line_bytes = LINE_CHARACTERS * 4;
const new_line = 0x0a;

/** Collects the lines of a window from chunks of bytes, in bounded memory. */
class LineWindow {
  readonly shown: string[] = [];
  line = 1;
  bytes = 0;
  full = false;
  crlf = false;
  readonly #first: number;
  readonly #last: number;
  #parts: Buffer[] = [];
  #kept = 0;
  #length = 0;

  constructor(first: number, count: number) {
    this.#first = first;
    this.#last = first + count - 1;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.full; ) {
      const end = chunk.indexOf(new_line, at);
      this.#add(chunk.subarray(at, end === -1 ? undefined : end));
      if (end === -1) return;
      this.endLine();
      at = end + 1;
    }
  }

  /** Whether the current line has begun: the last line may lack its line break. */
  get pending(): boolean {
    return this.#length > 0;
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.line < this.#first || this.#kept >= line_bytes || part.length === 0) return;
    // Copied: the chunk's memory is reused for the next read.
    const copy = Buffer.from(part.subarray(0, line_bytes - this.#kept));
    this.#parts.push(copy);
    this.#kept += copy.length;
  }

  /** `is_last`: the line ends with the file, not with a line feed. */
  endLine(is_last = false): void {
    if (this.line >= this.#first) this.#show(is_last);
    this.#parts = [];
    this.#kept = 0;
    this.#length = 0;
    if (!this.full) this.line += 1;
  }

  #show(is_last: boolean): void {
    let text = Buffer.concat(this.#parts).toString('utf8');
    if (!is_last && text.endsWith('\r') && this.#length === this.#kept) {
      text = text.slice(0, -1);
      this.crlf = true;
    }
    if (text.length > LINE_CHARACTERS || this.#length > this.#kept) {
      text = `${cutText(text, LINE_CHARACTERS)} [… line cut, ${this.#length} bytes]`.toWellFormed();
    }
    const numbered = `${this.line}\t${text}`;
    const size = Buffer.byteLength(numbered) + 1;
    if (this.line > this.#last || this.bytes + size > READ_BYTES) {
      this.full = true;
      return;
    }
    this.bytes += size;
    this.shown.push(numbered);
  }
}

/**
 * Returns `limit` lines of the open file from line `offset` (from 1) on, numbered. `name` is the file's name in
 * messages. Binary content is refused, with a hint.
 */
export async function readLines(
  file: number,
  name: string,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const window = new LineWindow(offset, limit);
  const chunk = Buffer.allocUnsafe(chunk_bytes);
  for (let position = 0, round = 1; !window.full; round += 1) {
    const count = readSync(file, chunk, 0, chunk_bytes, position);
    if (count === 0) break;
    const bytes = chunk.subarray(0, count);
    if (position === 0 && isBinary(bytes))
      return { status: 'error', output: `${name}: binary: look at it with bash (file, xxd, strings)` };
    window.push(bytes);
    position += count;
    if (round % 64 === 0) await nextRound(); // let other work proceed
    if (signal.aborted) return { status: 'cancelled', output: window.shown.join('\n') };
  }
  if (!window.full && window.pending) window.endLine(true);
  return windowResult(window, name, offset);
}

function windowResult(window: LineWindow, name: string, offset: number): ToolResult {
  if (window.shown.length === 0) {
    const lines = window.line - 1;
    if (lines === 0 && offset === 1) return { status: 'ok', output: `[${name} is empty]` };
    return {
      status: 'error',
      output: `field "offset": ${offset} is past the end: ${name} has ${lines} lines`,
    };
  }
  const notes: string[] = [];
  if (window.crlf) notes.push('[lines end with CR LF]');
  if (window.full) notes.push(`[more lines follow: go on with offset ${offset + window.shown.length}]`);
  // Later parts may contain NUL although the first did not.
  const output = [...window.shown, ...notes].join('\n').replaceAll('\0', '\ufffd');
  return { status: 'ok', output };
}
