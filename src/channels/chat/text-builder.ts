import type { Entity, FormattedText } from './formatted-text.ts';

type Style = 'bold' | 'italic' | 'strikethrough';

/**
 * Builds text with entities that nest as the Bot API demands: code interrupts styles, a link contains neither a link nor code, and a block quote
 * contains no block quote.
 */
export class TextBuilder {
  #text = '';
  readonly #entities: Entity[] = [];
  /** Offset at which each open style began. */
  readonly #styles = new Map<Style, number>();
  #in_link = false;
  #in_quote = false;
  /** Prefix of every further line. */
  #indent = '';
  /** Whether a new line has begun whose indentation is not written yet; code blocks get none. */
  #at_line_start = false;

  write(text: string): void {
    if (text === '') return;
    if (!text.startsWith('\n')) this.#indentLine();
    this.#text += this.#indent === '' ? text : text.replaceAll(/\n(?=[^\n])/g, `\n${this.#indent}`);
    this.#at_line_start = text.endsWith('\n');
  }

  styled(style: Style, content: () => void): void {
    if (this.#styles.has(style)) return content();
    this.#indentLine();
    this.#styles.set(style, this.#text.length);
    content();
    this.#closeStyle(style);
    this.#styles.delete(style);
  }

  link(url: string, content: () => void): void {
    if (this.#in_link) return content();
    this.#indentLine();
    const offset = this.#text.length;
    this.#in_link = true;
    content();
    this.#in_link = false;
    this.#add({ type: 'text_link', offset, length: this.#text.length - offset, url });
  }

  quoted(content: () => void): void {
    if (this.#in_quote) return content();
    this.#indentLine();
    const offset = this.#text.length;
    this.#in_quote = true;
    content();
    this.#in_quote = false;
    this.#add({ type: 'blockquote', offset, length: this.#text.length - offset });
  }

  indented(indent: string, content: () => void): void {
    this.#indentLine();
    const before = this.#indent;
    this.#indent = before + indent;
    content();
    this.#indent = before;
  }

  code(text: string): void {
    if (this.#in_link) return this.write(text);
    this.#indentLine();
    this.#addCode(text, (offset, length) => ({ type: 'code', offset, length }));
  }

  /** A code block; not indented. */
  pre(text: string, language = ''): void {
    this.#addCode(text, (offset, length) => ({
      type: 'pre',
      offset,
      length,
      ...(language === '' ? {} : { language }),
    }));
  }

  build(): FormattedText {
    // Of two entities over the same text, the outer one ended later and comes first.
    const entities = this.#entities.toReversed().sort((a, b) => a.offset - b.offset || b.length - a.length);
    return { text: this.#text, entities };
  }

  #indentLine(): void {
    if (this.#at_line_start) this.#text += this.#indent;
    this.#at_line_start = false;
  }

  #addCode(text: string, entity: (offset: number, length: number) => Entity): void {
    for (const style of this.#styles.keys()) this.#closeStyle(style);
    this.#add(entity(this.#text.length, text.length));
    this.#text += text;
    this.#at_line_start = false;
    for (const style of this.#styles.keys()) this.#styles.set(style, this.#text.length);
  }

  #closeStyle(type: Style): void {
    const offset = this.#styles.get(type) as number;
    this.#add({ type, offset, length: this.#text.length - offset });
  }

  #add(entity: Entity): void {
    if (entity.length > 0) this.#entities.push(entity);
  }
}
