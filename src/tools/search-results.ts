import { posix } from 'node:path';
import type { ContainedPath } from '../permissions/path-containment.ts';
import { printablePath } from '../permissions/printable-path.ts';
import { cutText } from '../records/text/cut-text.ts';
import { RESULT_CHARACTERS } from './define-tool.ts';

/** Maximum characters shown of a line. */
const LINE_CHARACTERS = 400;

/** ripgrep's JSON encoding of a text: base64 if it is not UTF-8. */
type Encoded = { readonly text: string } | { readonly bytes: string };

interface MatchRecord {
  readonly type: string;
  readonly data: { readonly path: Encoded; readonly lines: Encoded; readonly line_number: number | null };
}

/** Maximum size of a record, which holds one line of a file; longer ones are only counted. */
const record_bytes = 1024 * 1024;
const new_line = 0x0a;

function decode(encoded: Encoded): string {
  return 'text' in encoded ? encoded.text : Buffer.from(encoded.bytes, 'base64').toString('utf8');
}

/**
 * Parses ripgrep's JSON lines as they arrive and keeps a bounded list of `path:line: text`. JSON, because file names
 * may contain line breaks and colons.
 */
export class SearchResults {
  /** Called once, when the list is full. */
  onFull: () => void = () => {};
  readonly #place: ContainedPath;
  readonly #most: number;
  readonly #isHidden: (relative_path: string) => boolean;
  readonly #lines: string[] = [];
  readonly #hidden = new Map<string, boolean>();
  #characters = 0;
  #full = false;
  #too_long = 0;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(place: ContainedPath, most: number, isHidden: (relative_path: string) => boolean) {
    this.#place = place;
    this.#most = most;
    this.#isHidden = isHidden;
  }

  get count(): number {
    return this.#lines.length;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#full; ) {
      const end = chunk.indexOf(new_line, at);
      const part = chunk.subarray(at, end === -1 ? undefined : end);
      this.#length += part.length;
      if (this.#length <= record_bytes) this.#parts.push(part);
      else this.#parts = [];
      if (end === -1) return;
      this.#endRecord();
      at = end + 1;
    }
  }

  #endRecord(): void {
    if (this.#length > record_bytes) this.#too_long += 1;
    else this.#take(JSON.parse(Buffer.concat(this.#parts).toString('utf8')) as MatchRecord);
    this.#parts = [];
    this.#length = 0;
  }

  #take(record: MatchRecord): void {
    if (record.type !== 'match') return;
    const found = decode(record.data.path);
    const path = found === '<stdin>' ? this.#place.relative : posix.join(this.#place.relative, found);
    if (this.#isHiddenPath(path)) return;
    let text = decode(record.data.lines)
      .replace(/\r?\n$/, '')
      .replaceAll('\0', '\ufffd');
    if (text.length > LINE_CHARACTERS) {
      text = `${cutText(text, LINE_CHARACTERS)} [… line cut]`.toWellFormed();
    }
    // With a pattern that matches line breaks, one match has several lines.
    const line = `${printablePath(path)}:${record.data.line_number}: ${text.replaceAll(/\r?\n/g, '\n    ')}`;
    if (this.#lines.length === this.#most || this.#characters + line.length > RESULT_CHARACTERS - 1000) {
      this.#full = true;
      this.onFull();
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length + 1;
  }

  #isHiddenPath(path: string): boolean {
    let hidden = this.#hidden.get(path);
    if (hidden === undefined) {
      hidden = this.#isHidden(path);
      this.#hidden.set(path, hidden);
    }
    return hidden;
  }

  text(notes: readonly string[]): string {
    const all = [...this.#lines];
    if (this.#full)
      all.push(`[more than ${this.#lines.length} lines match: narrow the pattern, path or glob]`);
    if (this.#too_long > 0) all.push(`[${this.#too_long} matching lines are too long to show]`);
    all.push(...notes);
    return all.length === 0 ? '[nothing found]' : all.join('\n');
  }
}
