import type { ReadStream, WriteStream } from 'node:tty';
import {
  CURSOR_HIDDEN,
  CURSOR_SHOWN,
  clipboardText,
  ERASE_TO_LINE_END,
  ERASE_TO_SCREEN_END,
  lineText,
  synchronized,
  TITLE_BACK,
  TITLE_KEPT,
  titleText,
} from './control-sequences.ts';
import { InlinePainter } from './inline-painter.ts';
import { KeySource } from './key-source.ts';
import { type Reflow, reflowOf, reflowOfName, type TerminalSize } from './reflow.ts';
import type { Frame, Screen, ScreenListener } from './screen.ts';
import { kindOf, kindOfName, noticeText, type TerminalKind, takesTitle } from './terminal-kind.ts';
import { TerminalModes } from './terminal-modes.ts';
import { TerminalOutput } from './terminal-output.ts';
import { TerminalSignals } from './terminal-signals.ts';

/** Debounce of resizes: while a window is being dragged, its final size is unknown. */
const SETTLE_MS = 80;
/** Timeout for the answers to the queries sent at the start; a terminal on this machine takes a few milliseconds. */
const ANSWER_MS = 80;
const STDERR_WRITE = process.stderr.write;
const EMPTY: Frame = { lines: [], cursor: null };

/** Whether people are notified while the terminal does not have the focus, and whether its title is set. */
export interface ScreenCalls {
  readonly notifies: boolean;
  readonly titles: boolean;
}

export interface TerminalStreams {
  readonly input: ReadStream;
  readonly output: WriteStream;
}

/** The terminal of this process: taken by the constructor, restored by `close`, at the latest when the process exits. */
export class TerminalScreen implements Screen {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #out: TerminalOutput;
  readonly #listener: ScreenListener;
  readonly #inline = new InlinePainter();
  readonly #full = new FullPainter();
  readonly #modes = new TerminalModes();
  readonly #keys: KeySource;
  readonly #signals: TerminalSignals;
  readonly #calls: ScreenCalls;
  #focused = true;
  /** The title of the window; empty: it is still that of others. */
  #title = '';
  #reflow: Reflow;
  #kind: TerminalKind;
  /** The inline block, to be drawn again after the alternate screen. */
  #inline_frame = EMPTY;
  #full_frame = EMPTY;
  /** Lines to print after the alternate screen, or after a resize. */
  #waiting: string[] = [];
  #full_wanted = false;
  #state: 'open' | 'suspended' | 'closed' = 'open';
  /** Set while the window is being resized. */
  #settling: NodeJS.Timeout | null = null;
  /** Guards against recursion from the listener. */
  #notifying = false;
  readonly #answers = Promise.withResolvers<void>();
  readonly answered = this.#answers.promise;
  #gone = false;
  #hung_up = false;

  constructor(
    streams: TerminalStreams,
    listener: ScreenListener,
    env: NodeJS.ProcessEnv,
    calls: ScreenCalls = { notifies: true, titles: false },
  ) {
    this.#input = streams.input;
    this.#output = streams.output;
    this.#out = new TerminalOutput(streams.output, () => this.#taken());
    this.#listener = listener;
    this.#calls = { ...calls, titles: calls.titles && takesTitle(env) };
    this.#reflow = reflowOf(env);
    this.#kind = kindOf(env);
    this.#keys = new KeySource(
      {
        onInput: (data) => this.#state === 'open' && listener.onInput(data),
        onFocus: (focused) => {
          this.#focused = focused;
        },
        onKeyboard: (protocol) => this.#write(this.#modes.keyboard(protocol)),
        onName: (name) => {
          const known = this.#reflow;
          this.#reflow = reflowOfName(name) ?? known;
          this.#kind = kindOfName(name) ?? this.#kind;
          if (this.#reflow !== known && this.#ready && !this.full)
            this.#write(this.#inline.askPlace(this.#size));
        },
        onCursor: (row) => this.#inline.placed(row),
        onBackground: (ground) => listener.onBackground?.(ground),
        onAnswered: () => this.#answers.resolve(),
      },
      env,
    );
    this.#signals = new TerminalSignals({
      onStop: () => this.suspend(),
      onContinue: () => this.#continued(),
      onEnd: () => this.#hangUp(),
      onExit: () => this.close(),
    });
    this.#input.setEncoding('utf8');
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onGone);
    this.#input.on('error', this.#onGone);
    this.#output.on('error', this.#onGone);
    this.#output.on('resize', this.#onResize);
    setTimeout(this.#answers.resolve, ANSWER_MS).unref();
    this.#take();
    this.#write(this.#inline.askPlace(this.#size));
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  get full(): boolean {
    return this.#full_wanted;
  }

  print(lines: readonly string[]): void {
    if (this.#state === 'closed') return;
    this.#renewSize();
    if (!this.#ready || this.full) for (const line of lines) this.#waiting.push(line);
    else this.#write(synchronized(this.#inline.print(lines, this.#size)));
  }

  draw(frame: Frame, above: readonly string[] = []): void {
    if (this.#state === 'closed') return;
    this.#renewSize();
    if (above.length > 0 && this.#ready && !this.full) {
      this.#inline_frame = frame;
      this.#write(synchronized(this.#inline.print(above, this.#size, frame)));
      return;
    }
    if (above.length > 0) this.print(above);
    if (this.full) this.#full_frame = frame;
    else this.#inline_frame = frame;
    const painter = this.full ? this.#full : this.#inline;
    if (this.#ready) this.#write(synchronized(painter.draw(frame, this.#size)));
  }

  enterFull(): void {
    if (this.#state !== 'open' || this.full) return;
    this.#settle();
    // `#settle` has made the app draw, which may have called this method.
    if (this.full) return;
    this.#full_frame = EMPTY;
    this.#full_wanted = true;
    this.#write(synchronized(this.#showFull()));
  }

  leaveFull(): void {
    if (this.#state !== 'open' || !this.full) return;
    this.#settle();
    if (!this.full) return;
    this.#full_wanted = false;
    this.#write(synchronized(`${this.#modes.leaveAlternate()}${CURSOR_SHOWN}${this.#inlineAgain()}`));
  }

  attention(project: string, text: string): void {
    if (this.#state === 'open' && this.#calls.notifies && !this.#focused)
      this.#write(noticeText(this.#kind, project, text));
  }

  title(text: string): void {
    if (this.#state !== 'open' || !this.#calls.titles || text === this.#title) return;
    // The title of others is kept until the terminal is given back.
    this.#write(`${this.#title === '' ? TITLE_KEPT : ''}${titleText(text)}`);
    this.#title = text;
  }

  copy(text: string): TerminalKind['copies'] {
    if (this.#state === 'open' && this.#kind.copies !== 'never') this.#write(clipboardText(text));
    return this.#kind.copies;
  }

  suspend(): void {
    if (this.#state !== 'open' || process.platform === 'win32') return;
    this.#give('ours');
    this.#state = 'suspended';
    this.#signals.stop();
  }

  async lend(work: () => Promise<void>): Promise<void> {
    if (this.#state !== 'open') return;
    this.#give('ours');
    this.#state = 'suspended';
    await this.#signals.lend(work).finally(() => this.#continued());
  }

  close(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') this.#give('ours');
    else this.#write(this.#waitingText());
    this.#state = 'closed';
    this.#out.close();
    this.#signals.end(this.#hung_up);
    this.#input.off('data', this.#onData);
    this.#output.off('resize', this.#onResize);
    // The error listeners stay: a terminal that is gone may report that late.
  }

  /** Node learns of a new size by a signal, which a busy process takes late: what is laid out for the old size until then would wrap on the new one. */
  #renewSize(): void {
    const output: WriteStream & { _refreshSize?(): void } = this.#output;
    if (!this.#gone && !output.destroyed) output._refreshSize?.();
  }

  /** Whether output can be written now. */
  get #ready(): boolean {
    return this.#state === 'open' && this.#settling === null && this.#out.taken;
  }

  get #size(): TerminalSize {
    return { columns: this.columns, rows: this.rows, reflow: this.#reflow };
  }

  /** The terminal has taken what it was slow to take: shows what has changed since. */
  #taken(): void {
    if (!this.#ready) return;
    const waiting = this.full ? [] : this.#waiting.splice(0);
    if (this.full) this.#write(synchronized(this.#full.draw(this.#full_frame, this.#size)));
    else if (waiting.length === 0)
      this.#write(synchronized(this.#inline.draw(this.#inline_frame, this.#size)));
    else this.#write(synchronized(this.#inline.print(waiting, this.#size, this.#inline_frame)));
  }

  /** Prints the lines that were held back, then redraws the inline block, whose place is unknown now. */
  #inlineAgain(): string {
    const out = this.#waiting.length > 0 ? this.#inline.print(this.#waiting, this.#size) : '';
    this.#waiting = [];
    const block = this.#inline.draw(this.#inline_frame, this.#size);
    return `${out}${block}${this.#inline.askPlace(this.#size)}`;
  }

  #showFull(): string {
    // The block is erased first: after a resize on the other screen its place would be unknown.
    const out = `${this.#inline.erase(this.#size)}${this.#modes.enterAlternate()}`;
    this.#inline.startHere();
    this.#full.forget();
    return `${out}${this.#full.draw(this.#full_frame, this.#size)}`;
  }

  #waitingText(): string {
    const lines = this.#waiting;
    this.#waiting = [];
    return lines.map((line) => `${line}\x1b[0m\r\n`).join('');
  }

  #take(): void {
    this.#rawMode(true);
    if (this.#listener.onStray !== undefined && process.stderr.isTTY) process.stderr.write = this.#onStray;
    this.#input.resume();
    this.#keys.asked();
    this.#write(this.#modes.take());
  }

  /** Restores the terminal. The live block is erased, unless something else has written below it. */
  #give(ground: 'ours' | 'foreign'): void {
    this.#stopSettling();
    const erased = this.#modes.alternate || ground === 'foreign' ? '' : this.#inline.erase(this.#size);
    const title = this.#title === '' ? '' : TITLE_BACK;
    this.#title = '';
    const out = `${erased}${title}${this.#modes.give()}${this.#waitingText()}`;
    this.#write(`${synchronized(out)}${CURSOR_SHOWN}`);
    if (!this.#gone) this.#out.flush();
    this.#inline.startHere();
    this.#keys.clear();
    this.#input.pause();
    process.stderr.write = STDERR_WRITE;
    this.#rawMode(false);
  }

  /** Takes the terminal again after a stop, our own or an unannounced one: no terminal mode can be relied on. */
  #continued(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') this.#give('foreign');
    this.#state = 'open';
    this.#take();
    const inline = this.#inlineAgain();
    this.#write(synchronized(`${inline}${this.full ? this.#showFull() : ''}`));
    // The window may have been resized meanwhile.
    this.#listener.onResize();
  }

  /** Node does nothing if it has already set the mode, even if another program has changed it since: reset the mode before setting it again. */
  #rawMode(raw: boolean): void {
    try {
      this.#input.setRawMode(raw);
    } catch {
      this.#gone = true;
    }
  }

  #write(text: string): void {
    if (text !== '' && !this.#gone) this.#out.write(text);
  }

  readonly #onStray = (text: string | Uint8Array): boolean => {
    this.#listener.onStray?.(Buffer.from(text as string).toString());
    return true;
  };

  readonly #onData = (data: string | Buffer): void => this.#keys.feed(data.toString());

  readonly #onGone = (): void => {
    this.#gone = true;
    this.#hangUp();
  };

  /** A lost terminal is reported in several ways; the listener is called once. */
  #hangUp(): void {
    if (this.#hung_up || this.#state === 'closed') return;
    this.#hung_up = true;
    this.#listener.onHangup();
  }

  readonly #onResize = (): void => {
    this.#inline.resized(this.#size);
    this.#full.forget();
    if (this.#state !== 'open') return;
    this.#stopSettling();
    this.#settling = setTimeout(() => this.#settle(), SETTLE_MS);
  };

  #stopSettling(): void {
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#settling = null;
  }

  /** Makes the app draw for the new size; its frame and the lines that were held back are one write. */
  #settle(): void {
    if (this.#settling === null || this.#notifying) return;
    this.#notifying = true;
    this.#listener.onResize(this.#inline.leave(this.#size));
    this.#notifying = false;
    this.#stopSettling();
    if (this.#state !== 'open') return;
    const out = this.full ? this.#full.draw(this.#full_frame, this.#size) : this.#inlineAgain();
    this.#write(synchronized(out));
  }
}

/** Paints the alternate screen: returns the output for the lines that changed. */
class FullPainter {
  /** Lines on the screen; null: its content is unknown. */
  #lines: readonly string[] | null = null;
  #cursor: Frame['cursor'] = null;

  /** Marks the content of the screen as unknown: it was entered, or resized. */
  forget(): void {
    this.#lines = null;
  }

  draw(frame: Frame, { columns, rows }: TerminalSize): string {
    const lines = frame.lines.slice(0, rows);
    const cursor = frame.cursor !== null && frame.cursor.row < lines.length ? frame.cursor : null;
    const before = this.#lines;
    let out = before === null ? `\x1b[H${ERASE_TO_SCREEN_END}` : '';
    for (const [row, line] of lines.entries()) {
      if (before !== null && line === (before[row] ?? '')) continue;
      out += `\x1b[${row + 1};1H${before === null ? '' : ERASE_TO_LINE_END}${lineText(line, columns)}`;
    }
    if (before !== null && lines.length < before.length)
      out += `\x1b[${lines.length + 1};1H${ERASE_TO_SCREEN_END}`;
    const still = cursor?.row === this.#cursor?.row && cursor?.column === this.#cursor?.column;
    this.#lines = lines;
    this.#cursor = cursor;
    if (out === '' && still) return '';
    if (cursor === null) return `${CURSOR_HIDDEN}${out}`;
    const column = Math.min(cursor.column, columns - 1) + 1;
    return `${CURSOR_HIDDEN}${out}\x1b[${cursor.row + 1};${column}H${CURSOR_SHOWN}`;
  }
}
