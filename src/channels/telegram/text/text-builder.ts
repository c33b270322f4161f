import type { Entity, FormattedText } from './formatted-text.ts';

type Style = 'bold' | 'italic' | 'strikethrough';

/**
 * Writes text with marks that nest as the Bot API allows it: styles stop before code and go on behind it, a link holds no second link
 * and no code, a quotation no second quotation.
 */
export class TextBuilder {
  #text = '';
  readonly #entities: Entity[] = [];
  /** Where the open ones began. */
  readonly #styles = new Map<Style, number>();
  #in_link = false;
  #in_quote = false;
  /** Stands at the beginning of every further line. */
  #indent = '';
  /** A line was begun whose indentation is not written yet: code needs none. */
  #begun = false;

  write(text: string): void {
    if (text === '') return;
    if (!text.startsWith('\n')) this.#begin();
    this.#text += this.#indent === '' ? text : text.replaceAll(/\n(?=[^\n])/g, `\n${this.#indent}`);
    this.#begun = text.endsWith('\n');
  }

  styled(style: Style, content: () => void): void {
    if (this.#styles.has(style)) return content();
    this.#begin();
    this.#styles.set(style, this.#text.length);
    content();
    this.#mark(style);
    this.#styles.delete(style);
  }

  link(url: string, content: () => void): void {
    if (this.#in_link) return content();
    this.#begin();
    const offset = this.#text.length;
    this.#in_link = true;
    content();
    this.#in_link = false;
    this.#add({ type: 'text_link', offset, length: this.#text.length - offset, url });
  }

  quoted(content: () => void): void {
    if (this.#in_quote) return content();
    this.#begin();
    const offset = this.#text.length;
    this.#in_quote = true;
    content();
    this.#in_quote = false;
    this.#add({ type: 'blockquote', offset, length: this.#text.length - offset });
  }

  indented(indent: string, content: () => void): void {
    this.#begin();
    const before = this.#indent;
    this.#indent = before + indent;
    content();
    this.#indent = before;
  }

  code(text: string): void {
    if (this.#in_link) return this.write(text);
    this.#begin();
    this.#apart(text, (offset, length) => ({ type: 'code', offset, length }));
  }

  /** Lines of code; they are not indented. */
  pre(text: string, language = ''): void {
    this.#apart(text, (offset, length) => ({
      type: 'pre',
      offset,
      length,
      ...(language === '' ? {} : { language }),
    }));
  }

  build(): FormattedText {
    // Of two over the same text the outer one, which ended later, comes first.
    const entities = this.#entities.toReversed().sort((a, b) => a.offset - b.offset || b.length - a.length);
    return { text: this.#text, entities };
  }

  #begin(): void {
    if (this.#begun) this.#text += this.#indent;
    this.#begun = false;
  }

  #apart(text: string, entity: (offset: number, length: number) => Entity): void {
    for (const style of this.#styles.keys()) this.#mark(style);
    this.#add(entity(this.#text.length, text.length));
    this.#text += text;
    this.#begun = false;
    for (const style of this.#styles.keys()) this.#styles.set(style, this.#text.length);
  }

  #mark(type: Style): void {
    const offset = this.#styles.get(type) as number;
    this.#add({ type, offset, length: this.#text.length - offset });
  }

  #add(entity: Entity): void {
    if (entity.length > 0) this.#entities.push(entity);
  }
}
