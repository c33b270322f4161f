import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { COMPILED } from '../../house/compiled.ts';

export interface PtyOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Maximum lines of scrollback. */
  readonly scrollback?: number;
  /** Whether the terminal cuts lines when it gets narrower, as xterm does, instead of rewrapping them. */
  readonly cuts?: boolean;
  /** Reply to a query for the background (`rgb:ffff/ffff/ffff`); without it there is no reply, as with old terminals. */
  readonly background?: string;
  /** Whether the terminal answers no query at all. */
  readonly silent?: boolean;
}

/** A program in a real pseudo-terminal, with an in-memory terminal that shows what a person would see. */
export interface Pty {
  readonly pid: number;
  /** Rows of the screen from top to bottom, without trailing blanks. */
  screen(): string[];
  /** The terminal with its colours, for pictures. */
  readonly terminal: xterm.Terminal;
  /** All rows since the start: scrollback, then the screen. */
  history(): string[];
  /** Row and column on the screen, from 0. */
  cursor(): { readonly row: number; readonly column: number };
  readonly alternate: boolean;
  /** Whether a DEC private mode is on, according to what the program has written: 25 (cursor), 1049, 2004… */
  modeOn(mode: number): boolean;
  /** Output of the program since the start, or since `mark()`. */
  written(since?: number): string;
  mark(): number;
  send(data: string): void;
  /** Takes nothing from the program, as after Ctrl-S or on a connection that is stuck, or all of it again. */
  take(takes: boolean): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** Waits until the condition holds, or until the string is on the screen. */
  until(what: string | (() => boolean), said?: string): Promise<void>;
  /** Acts as if the window were closed or the connection lost. */
  hangUp(): void;
  readonly ended: Promise<{ readonly exitCode: number; readonly signal: number }>;
  end(): Promise<void>;
}

const WAIT_MS = 60_000;
/** Synchronized output: set while a frame has arrived in part. */
const IN_FRAME = 2026;

/** Runs a program as a person's shell would. */
export function openPty(file: string, args: readonly string[], options: PtyOptions = {}): Pty {
  const columns = options.columns ?? 80;
  const rows = options.rows ?? 24;
  const terminal = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: options.scrollback ?? 20_000,
    allowProposedApi: true,
    ...(options.cuts ? { windowsPty: { backend: 'winpty', buildNumber: 1 } } : {}),
  });
  const env = {
    PATH: process.env.PATH,
    COPPICE_SANDBOX: 'off',
    ...COMPILED,
    HOME: process.env.HOME,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    // xterm.js, the in-memory terminal, is the one in VS Code, which identifies itself this way.
    TERM_PROGRAM: 'vscode',
  };
  const child = spawn(file, [...args], {
    cols: columns,
    rows,
    env: { ...env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let written = '';
  let over = false;
  const modes = new Map<number, boolean>();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of [...waiting]) check();
  };
  child.onData((data) => {
    written += data;
    terminal.write(data, wake);
  });
  for (const [final, on] of [
    ['h', true],
    ['l', false],
  ] as const) {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (numbers) => {
      for (const number of numbers) modes.set(Number(number), on);
      return false;
    });
  }
  // Replies of the terminal to queries for its name and capabilities.
  terminal.onData((data) => !over && options.silent !== true && child.write(data));
  terminal.parser.registerOscHandler(11, (data) => {
    if (data === '?' && options.background !== undefined && !over)
      child.write(`\x1b]11;${options.background}\x1b\\`);
    return true;
  });
  const ended = new Promise<{ exitCode: number; signal: number }>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      over = true;
      terminal.write('', () => {
        wake();
        resolve({ exitCode, signal: signal ?? 0 });
      });
    });
  });
  const lines = (from: number): string[] => {
    const buffer = terminal.buffer.active;
    return Array.from({ length: buffer.length - from }, (_, row) =>
      (buffer.getLine(from + row)?.translateToString(true, 0, terminal.cols) ?? '').trimEnd(),
    );
  };
  const pty: Pty = {
    pid: child.pid,
    screen: () => lines(terminal.buffer.active.baseY),
    terminal,
    history: () => lines(0),
    cursor: () => ({ row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }),
    get alternate() {
      return terminal.buffer.active.type === 'alternate';
    },
    modeOn: (mode) => modes.get(mode) ?? mode === 25,
    written: (since = 0) => written.slice(since),
    mark: () => written.length,
    send: (data) => child.write(data),
    take: (takes) => (takes ? child.resume() : child.pause()),
    resize(next_columns, next_rows) {
      terminal.resize(next_columns, next_rows);
      child.resize(next_columns, next_rows);
    },
    kill: (signal) => process.kill(child.pid, signal),
    until(what, said) {
      const test = typeof what === 'function' ? what : () => pty.screen().some((line) => line.includes(what));
      return new Promise((resolve, reject) => {
        const stop = () => {
          waiting.delete(check);
          clearTimeout(timer);
        };
        const check = () => {
          // A person sees whole frames, and the caller may look further at once.
          if ((modes.get(IN_FRAME) === true && !over) || !test()) return;
          stop();
          resolve();
        };
        const timer = setTimeout(() => {
          stop();
          const tail = JSON.stringify(written.slice(-500));
          reject(new Error(`never came: ${said ?? what}\n${pty.screen().join('\n')}\nlast bytes: ${tail}`));
        }, WAIT_MS);
        waiting.add(check);
        check();
      });
    },
    // Not in the library's types: closes our end, as a terminal does when it goes away.
    hangUp: () => (child as unknown as { destroy(): void }).destroy(),
    ended,
    async end() {
      if (!over) child.kill('SIGKILL');
      await ended;
      terminal.dispose();
    },
  };
  return pty;
}
