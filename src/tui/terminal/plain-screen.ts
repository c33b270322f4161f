import { createInterface, type Interface } from 'node:readline';
import { bracketedPaste } from './control-sequences.ts';
import type { Screen, ScreenListener } from './screen.ts';

const CTRL_C = '\x03';
const COLUMNS = 80;

/** A terminal that can only print lines (`TERM=dumb`): input comes line by line, and no control sequence is written. */
export class PlainScreen implements Screen {
  readonly answered = Promise.resolve();
  readonly full = false;
  readonly rows = 40;
  readonly #output: NodeJS.WriteStream;
  readonly #lines: Interface;
  readonly #onHangup: () => void;
  readonly #onInterrupt: () => void;

  constructor(
    { input, output }: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
    listener: ScreenListener,
  ) {
    this.#output = output;
    this.#onInterrupt = () => listener.onInput(CTRL_C);
    this.#onHangup = listener.onHangup;
    this.#lines = createInterface({ input, terminal: false });
    this.#lines.on('line', (line) => {
      // A single letter is a key, for confirmations; everything else is text.
      if (/^[a-z]$/i.test(line.trim())) listener.onInput(line.trim());
      else if (line !== '') listener.onInput(bracketedPaste(line));
      listener.onInput('\r');
    });
    this.#lines.on('close', listener.onHangup);
    process.on('SIGINT', this.#onInterrupt);
    for (const name of ['SIGHUP', 'SIGTERM'] as const) process.on(name, listener.onHangup);
  }

  get columns(): number {
    return this.#output.columns || COLUMNS;
  }

  print(lines: readonly string[]): void {
    for (const line of lines) this.#output.write(`${line}\n`);
  }

  draw(): void {}
  enterFull(): void {}
  leaveFull(): void {}
  attention(): void {}
  title(): void {}
  suspend(): void {}

  copy() {
    return 'never' as const;
  }

  lend(work: () => Promise<void>): Promise<void> {
    return work();
  }

  close(): void {
    process.off('SIGINT', this.#onInterrupt);
    for (const name of ['SIGHUP', 'SIGTERM'] as const) process.off(name, this.#onHangup);
    this.#lines.off('close', this.#onHangup);
    this.#lines.close();
  }
}
