import { randomUUID } from 'node:crypto';
import type { PromptMessage } from '../core/prompt.ts';

/** How a provider package writes a plain user message: what marks are looked for as, to the byte. */
export type UserMessageShape = (text: string) => string;

export const CHAT_USER: UserMessageShape = (text) => JSON.stringify({ role: 'user', content: text });
export const RESPONSES_USER: UserMessageShape = (text) =>
  JSON.stringify({ role: 'user', content: [{ type: 'input_text', text }] });

interface Known {
  readonly id: string;
  bytes: Buffer | null;
}

/**
 * What relatives share is converted and serialised once, not for every request of each of them: the first request carries the prefix between
 * two marks, its bytes are kept, and later ones carry a mark in its place. The bytes sent are the same as without. Only for protocols whose
 * packages convert message by message; where a mark is not found as expected, `splice` returns null and the request must be made whole.
 */
export class PrefixSplice {
  readonly #shape: UserMessageShape;
  readonly #mark = `coppice-prefix-${randomUUID()}`;
  /** By the last message of the prefix: relatives share the object. */
  readonly #known = new WeakMap<PromptMessage, Known>();
  readonly #by_id = new Map<string, WeakRef<Known>>();
  #count = 0;

  constructor(shape: UserMessageShape) {
    this.#shape = shape;
  }

  /** The messages to convert instead of these, or null when nothing is shared. */
  marked(messages: readonly PromptMessage[], shared_prefix: number): readonly PromptMessage[] | null {
    const last = messages[shared_prefix - 1];
    if (last === undefined) return null;
    let known = this.#known.get(last);
    if (known === undefined) {
      this.#count += 1;
      known = { id: String(this.#count), bytes: null };
      this.#known.set(last, known);
      this.#by_id.set(known.id, new WeakRef(known));
    }
    const begin: PromptMessage = { role: 'user', text: this.#text(known.id, 'begin') };
    if (known.bytes !== null) return [begin, ...messages.slice(shared_prefix)];
    const end: PromptMessage = { role: 'user', text: this.#text(known.id, 'end') };
    return [begin, ...messages.slice(0, shared_prefix), end, ...messages.slice(shared_prefix)];
  }

  #text(id: string, place: 'begin' | 'end'): string {
    return `${this.#mark}-${id}-${place}`;
  }

  /** A body with the prefix in it, as it was sent. */
  whole(body: unknown): unknown {
    const pieces = this.splice(JSON.stringify(body));
    return pieces === null ? body : JSON.parse(pieces.map(String).join(''));
  }

  /** The body without marks, in pieces; the body itself where there is no mark; null where a mark stands in an unexpected shape. */
  splice(body: string): readonly (string | Buffer)[] | null {
    const at = body.indexOf(this.#mark);
    if (at < 0) return [body];
    const id = /^-(\d+)-begin/.exec(body.slice(at + this.#mark.length, at + this.#mark.length + 40))?.[1];
    const known = id === undefined ? undefined : this.#by_id.get(id)?.deref();
    if (id === undefined || known === undefined) return null;
    const begin = this.#shape(this.#text(id, 'begin'));
    const from = body.indexOf(begin);
    if (from < 0) return null;
    const head = body.slice(0, from);
    const after = from + begin.length;
    const end = this.#shape(this.#text(id, 'end'));
    const to = body.indexOf(end, after);
    if (to < 0)
      return known.bytes === null || body.includes(this.#mark, after)
        ? null
        : [head, known.bytes, body.slice(after)];
    // Between the marks: a comma, the prefix, a comma.
    const bytes = Buffer.from(body.slice(after + 1, to - 1));
    known.bytes = bytes;
    return [head, bytes, body.slice(to + end.length)];
  }
}
