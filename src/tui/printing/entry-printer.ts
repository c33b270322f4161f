import { sign, type UiStyle } from '../../render/style.ts';
import type { Entry } from '../state/entry.ts';
import type { AgentPane } from '../state/ui-state.ts';
import type { FrameBudget } from '../text/frame-budget.ts';
import { line } from '../text/line.ts';
import type { MarkdownTail } from '../text/markdown.ts';
import type { Batches } from '../text/wrap.ts';
import type { AgentNames } from '../views/transcript/agent-names.ts';
import { answerRest, entryBelow, thoughtLines } from '../views/transcript/entry-view.ts';

interface PrintOptions {
  readonly width: number;
  readonly style: UiStyle;
  readonly names: AgentNames;
  readonly spend: FrameBudget;
}

interface Printed {
  readonly lines: readonly string[];
  /** Whether there is no more to print. */
  readonly whole: boolean;
}

/** Prints the entries of one agent, each once, a long one in several frames; prints each block of a streamed answer as soon as it is finished. */
export class EntryPrinter {
  #next: number;
  /** The remaining batches of a partly printed entry. */
  #rest: Iterator<readonly string[]> | null = null;
  /** The printed part of an answer that is not an entry yet. */
  #streamed = '';

  constructor(first: number) {
    this.#next = first;
  }

  printed(streaming: string): number {
    return streaming.startsWith(this.#streamed) ? this.#streamed.length : 0;
  }

  /** Counts a part of the answer that is being streamed as printed: the screen has left it in the scrollback. */
  left(streamed: string): void {
    if (streamed.startsWith(this.#streamed)) this.#streamed = streamed;
  }

  /** Returns the next lines of the entries before index `end`. */
  lines(entries: readonly Entry[], end: number, options: PrintOptions): Printed {
    const lines: string[] = [];
    while (this.#next < end) {
      const entry = entries[this.#next] as Entry;
      this.#rest ??= this.#batches(entry, entries[this.#next - 1] ?? null, options)[Symbol.iterator]();
      const batch = this.#rest.next();
      if (batch.done === true) {
        this.#rest = null;
        this.#next += 1;
        continue;
      }
      for (const text of batch.value) lines.push(text);
      if (options.spend(batch.value.length)) break;
    }
    return { lines, whole: this.#next >= end };
  }

  /** Returns the next finished blocks of the answer that is being streamed below all entries. */
  streamed(
    { streaming, reasoning }: AgentPane,
    text: MarkdownTail,
    { width, style, spend }: PrintOptions,
  ): Printed {
    const lines: string[] = [];
    if (!streaming.startsWith(this.#streamed)) {
      if (streaming === '') return { lines, whole: true };
      lines.push(...cutOff(width, style));
      this.#streamed = '';
    }
    for (;;) {
      const block = text.finished(streaming, width, style, this.#streamed.length);
      if (block === null) return { lines, whole: true };
      if (this.#streamed === '') {
        const thought = thoughtLines(reasoning, width, style);
        lines.push('', ...thought, ...(thought.length > 0 ? [''] : []));
      }
      lines.push(...block.lines);
      this.#streamed = streaming.slice(0, block.end);
      if (spend(block.lines.length)) return { lines, whole: false };
    }
  }

  #batches(entry: Entry, before: Entry | null, { width, style, names }: PrintOptions): Batches {
    const whole = entryBelow(entry, before, width, style, names);
    const kind = entry.type === 'message' ? entry.message.kind : entry.type;
    if (this.#streamed === '' || (kind !== 'assistant' && kind !== 'user')) return whole;
    const streamed = this.#streamed;
    this.#streamed = '';
    if (entry.type !== 'message' || kind === 'user') return whole;
    return answerRest(entry.message, streamed, width, style) ?? [cutOff(width, style), ...whole];
  }
}

/** Marks an answer that broke off because the provider failed and has been asked again. */
function cutOff(width: number, style: UiStyle): readonly string[] {
  const mark = style.accessible ? '' : `${sign(style, '·')} `;
  return ['', line(style, width, [['dim', `${mark}cut off here; the answer begins again`]])];
}
