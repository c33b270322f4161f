import { type Sign, sign, type UiStyle } from '../../render/style.ts';
import { typedText } from '../../tui/keys/action-of.ts';
import { drawingWidth, type Frame, type Screen, type ScreenListener } from '../../tui/terminal/screen.ts';
import { line } from '../../tui/text/line.ts';
import { wrap } from '../../tui/text/wrap.ts';
import { type Choice, choiceLines, matching, typedLine } from './dialogue-view.ts';

const CTRL_C = '\x03';
const CTRL_U = '\x15';
const BACKSPACE = ['\x7f', '\b'];
const ENTER = ['\r', '\n'];
const ESCAPE = '\x1b';
/** Maximum length of a list from which a digit chooses; longer lists are filtered by what is typed. */
const DIGITS_MAX = 9;
/** Interval at which the waiting time on the screen is updated. */
const TICK_MS = 1_000;

type OnKey = (key: string) => void;

/** Questions to a person, one after the other, on a terminal. Each resolves to null if the person goes back (Esc), or leaves (Ctrl-C). */
export class Dialogue {
  /** Whether the person has left or the terminal is gone. */
  ended = false;
  readonly #style: UiStyle;
  /** Whether nothing can be drawn: questions are printed, and answers are read as lines. */
  readonly line_mode: boolean;
  readonly #screen: Screen;
  #onKey: OnKey = () => undefined;
  #draw: () => void = () => undefined;
  #leave: () => void = () => undefined;

  constructor(style: UiStyle, line_mode: boolean, openScreen: (listener: ScreenListener) => Screen) {
    this.#style = style;
    this.line_mode = line_mode;
    this.#screen = openScreen({
      onInput: (key) => (key === CTRL_C ? this.#end() : this.#onKey(key)),
      onResize: () => this.#draw(),
      onHangup: () => this.#end(),
    });
  }

  close(): void {
    this.#screen.close();
  }

  print(...texts: readonly string[]): void {
    this.#screen.print(texts.flatMap((text) => wrap(this.#signed(text), this.#width, this.#style)));
  }

  #signed(text: string): string {
    return text.replaceAll(/[✓✗…·]/g, (one) => sign(this.#style, one as Sign));
  }

  /** Resolves to the index of the choice. */
  async choose(title: string, choices: readonly Choice[]): Promise<number | null> {
    let selected = 0;
    let filter = '';
    const filters = choices.length > DIGITS_MAX;
    const shown = () => matching(choices, filter);
    const lines = () => {
      const rows = this.line_mode ? Number.POSITIVE_INFINITY : Math.max(3, this.#screen.rows - 4);
      return choiceLines(
        { title, choices, shown: shown(), selected, filter, rows },
        this.#width,
        this.#style,
      );
    };
    if (this.line_mode) this.print(...lines(), `1 to ${choices.length}, then Enter; q leaves`);
    const index = await this.#answer<number>(
      () => ({ lines: lines(), cursor: null }),
      (key, resolve) => {
        const text = this.#textOf(key);
        if (key === ESCAPE) return resolve(null);
        if (this.line_mode || !filters) {
          const number = Number(text ?? '');
          if (Number.isInteger(number) && number >= 1 && number <= choices.length) return resolve(number - 1);
          if (text === 'q') return this.#end();
        }
        if (this.line_mode) return;
        const count = shown().length;
        if (key === '\x1b[A') selected = Math.max(0, selected - 1);
        else if (key === '\x1b[B') selected = Math.min(Math.max(0, count - 1), selected + 1);
        else if (ENTER.includes(key)) resolve(shown()[selected] ?? null, shown().length > 0);
        else if (filters && BACKSPACE.includes(key)) [filter, selected] = [shortened(filter), 0];
        else if (filters && text !== null) [filter, selected] = [filter + text, 0];
      },
    );
    // Leaves the choice on the screen.
    if (index !== null && !this.line_mode) this.print(`${title} ${choices[index]?.text ?? ''}`);
    return index;
  }

  /** Asks for a line of text; `hidden`: only its length is shown, which needs a terminal that can draw. */
  async ask(title: string, { hidden = false, text: given = '' } = {}): Promise<string | null> {
    let text = given;
    if (this.line_mode) this.print(title);
    const answer = await this.#answer<string>(
      () => typedLine(title, text, hidden, this.#width, this.#style),
      (key, resolve) => {
        const more = this.#textOf(key);
        if (key === ESCAPE) resolve(null);
        else if (ENTER.includes(key)) resolve(text.trim(), text.trim() !== '');
        else if (BACKSPACE.includes(key)) text = shortened(text);
        else if (key === CTRL_U) text = '';
        else if (more !== null) text += more;
      },
    );
    if (answer !== null && !this.line_mode)
      this.print(`${title} ${hidden ? `(${answer.length} characters, hidden)` : answer}`);
    return answer;
  }

  /** Waits for work that takes a while; Esc aborts it. Null if it was aborted or has failed. */
  async wait<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const abort = new AbortController();
    const began = performance.now();
    const lines = () => {
      const seconds = Math.floor((performance.now() - began) / TICK_MS);
      return [
        line(this.#style, this.#width, [this.#signed(title), ['dim', seconds > 0 ? ` ${seconds}s` : '']]),
        line(this.#style, this.#width, [['dim', 'Esc stops']]),
      ];
    };
    if (this.line_mode) this.print(title);
    const timer = setInterval(() => this.#draw(), TICK_MS);
    try {
      return await this.#answer<T>(
        () => ({ lines: lines(), cursor: null }),
        (key, resolve) => key === ESCAPE && resolve(null),
        work(abort.signal),
      );
    } finally {
      clearInterval(timer);
      abort.abort();
    }
  }

  get #width(): number {
    return drawingWidth(this.#screen);
  }

  /** Text that a key or a paste enters; null for a key that enters none. */
  #textOf(key: string): string | null {
    const text = typedText(key);
    return this.line_mode ? (text?.trim() ?? null) : text;
  }

  async #answer<T>(
    frame: () => Frame,
    onKey: (key: string, resolve: (value: T | null, valid?: boolean) => void) => unknown,
    work?: Promise<T>,
  ): Promise<T | null> {
    if (this.ended) return null;
    const { promise, resolve } = Promise.withResolvers<T | null>();
    let over = false;
    this.#draw = () => over || this.#screen.draw(frame());
    this.#leave = () => resolve(null);
    this.#onKey = (key) => {
      onKey(key, (value, valid = true) => valid && resolve(value));
      this.#draw();
    };
    work?.then(resolve, () => resolve(null));
    this.#draw();
    const answer = await promise;
    over = true;
    this.#onKey = () => undefined;
    this.#screen.draw({ lines: [], cursor: null });
    return answer;
  }

  #end(): void {
    this.ended = true;
    this.#leave();
  }
}

/** Returns the text without its last character. */
function shortened(text: string): string {
  return [...text].slice(0, -1).join('');
}
