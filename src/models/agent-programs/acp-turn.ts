import type { AssistantPart } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { ModelDelta } from '../model.ts';

/** Maximum characters of one answer; the rest is dropped. */
const MAX_CHARACTERS = 1_000_000;
const MAX_TITLE = 200;

interface Chunk {
  readonly content?: unknown;
  readonly messageId?: unknown;
}

/** Collects a program's output during one prompt. Ignores everything after `close`. */
export class AcpTurn {
  readonly #onDelta: (delta: ModelDelta) => void;
  readonly #parts: { readonly type: 'text' | 'reasoning'; text: string }[] = [];
  readonly #calls = new Set<string>();
  #message_id: unknown;
  /** The last character of the text so far. */
  #text_end = '';
  /** Characters that have come. */
  characters = 0;
  /** Whether a tool was used since the last text: the next text then starts a new paragraph. */
  #interrupted = false;
  #closed = false;
  /** The latest refusal, if no text followed it. */
  #refusal: string | null = null;
  /** Whether the answer exceeded its maximum size. */
  overflowed = false;

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta;
  }

  get text(): string {
    return this.#parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  }

  get parts(): AssistantPart[] {
    return this.#parts.filter((part) => part.text !== '').map((part) => ({ ...part }));
  }

  close(): void {
    this.#closed = true;
  }

  message(chunk: Chunk): void {
    const text = chunkText(chunk);
    if (text === '') return;
    // This includes text without an id after text with one, such as a notice of the program itself.
    const another = chunk.messageId !== this.#message_id && this.#message_id !== undefined;
    const apart = this.#interrupted || another;
    const joins = this.#text_end === '' || this.#text_end === '\n' || text.startsWith('\n');
    this.#message_id = chunk.messageId;
    this.#interrupted = false;
    this.#refusal = null;
    this.#text_end = text.slice(-1);
    this.#add('text', apart && !joins ? `\n\n${text}` : text);
  }

  /** Records a refused use. */
  refuse(sentence: string): void {
    this.#refusal = sentence;
  }

  /** Explains the end if the program stopped silently after a refusal. */
  explain(): void {
    const sentence = this.#refusal;
    if (sentence === null) return;
    this.#add('text', `${this.#text_end === '' ? '' : '\n\n'}[not allowed: ${sentence}]`);
  }

  /** Tells people, not models, something about the prompt. */
  note(text: string): void {
    this.#add('reasoning', `${this.#parts.length === 0 ? '' : '\n\n'}[${text}]`);
  }

  thought(chunk: Chunk): void {
    const text = chunkText(chunk);
    if (text !== '') this.#add('reasoning', text);
  }

  /** Calls are only shown live: the program runs them itself. */
  call(id: string, title: string): void {
    if (this.#closed || this.#calls.has(id)) return;
    this.#calls.add(id);
    this.#interrupted = true;
    this.#onDelta({
      type: 'call',
      id,
      name: title
        .slice(0, 4 * MAX_TITLE)
        .replace(/\s+/g, ' ')
        .slice(0, MAX_TITLE),
    });
  }

  #add(type: 'text' | 'reasoning', text: string): void {
    if (this.#closed) return;
    const kept = cutText(text, MAX_CHARACTERS - this.characters);
    if (kept.length < text.length) this.overflowed = true;
    if (kept === '') return;
    this.characters += kept.length;
    const last = this.#parts.at(-1);
    if (last?.type === type) last.text += kept;
    else this.#parts.push({ type, text: kept });
    this.#onDelta({ type, text: kept });
  }
}

function chunkText({ content }: Chunk): string {
  const { type, text, uri } = (content ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof text === 'string') return text;
  if (typeof uri === 'string') return uri;
  return type === 'image' || type === 'audio' ? `[${type}]` : '';
}
