import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import { MAIN } from '../../house/program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { openPty, type Pty, type PtyOptions } from '../terminal/pty.ts';

export interface UiStage {
  readonly pty: Pty;
  readonly folder: string;
  /** Types a line and sends it. */
  say(text: string): Promise<void>;
  /** Presses keys one by one. Letters in one text arrive together: on a slow machine, too, they are a word and no answers. */
  press(...keys: string[]): Promise<void>;
  /** Answers the visible question by a chord, after it has been visible long enough to be read. */
  answer(key: 'y' | 's' | 'n' | 'm' | 'v' | 'p'): Promise<void>;
  /** Waits until a text is nowhere on the screen. */
  gone(text: string): Promise<void>;
  /** Whether a text is on the screen. */
  shows(text: string): boolean;
  /** Waits until this agent is in view. */
  inView(label: string): Promise<void>;
  /** Runs a `coppice` command in a separate process on the same ledger. */
  coppice(...args: string[]): string;
  /** Starts a `coppice` command on the same ledger; it runs until the test ends or it is stopped. */
  beside(...args: string[]): ChildProcess;
  /** Opens the ledger for one look-up, then closes it. */
  ledger<T>(look: (store: Store) => Promise<T>): Promise<T>;
  /** Starts the program once more on the same ledger. */
  again(args?: readonly string[], options?: PtyOptions): Promise<UiStage>;
}

export const KEY = {
  enter: '\r',
  escape: '\x1b',
  leader: '\x18',
  ctrl_c: '\x03',
  ctrl_z: '\x1a',
  up: '\x1b[A',
  down: '\x1b[B',
  ctrl_up: '\x1b[1;5A',
  ctrl_down: '\x1b[1;5B',
  ctrl_right: '\x1b[1;5C',
  ctrl_left: '\x1b[1;5D',
  alt: (digit: number) => `\x1b${digit}`,
} as const;

export interface UiOptions extends PtyOptions {
  readonly args?: readonly string[];
  /** Starts the program from a shell with job control, which owns the terminal before and after. */
  readonly shell?: boolean;
  /** Arguments of a command that runs beside the program and is started first; and the text that the program shows when ready, if not its input. */
  readonly beside?: readonly string[];
  readonly ready?: string;
}

/** Starts the real program in a real pseudo-terminal, with scripted rules and a new ledger. */
export async function openUi(
  test: TestContext,
  rules: ScriptedRules,
  options: UiOptions = {},
): Promise<UiStage> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(rules));
  return open(test, folder, options.args ?? [], options);
}

async function open(
  test: TestContext,
  folder: string,
  args: readonly string[],
  options: UiOptions,
): Promise<UiStage> {
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const common = ['--database', database, '--model', `scripted:${join(folder, 'rules.json')}`];
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    PS1: 'shell$ ',
    ...options.env,
  };
  const beside = (words: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [MAIN, ...words, ...common], {
      cwd: folder,
      env: { ...process.env, ...env, NO_COLOR: '1' },
      stdio: 'ignore',
    });
    test.after(() => child.kill('SIGKILL'));
    return child;
  };
  const ledger = async <T>(look: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(database);
    try {
      return await look(store);
    } finally {
      await store.close();
    }
  };
  if (options.beside !== undefined) {
    beside(options.beside);
    await until(() => existsSync(join(folder, 'ledger.db')), 'the ledger');
    await until(async () => (await ledger((store) => store.agents({}))).length > 0, 'its first agent');
  }
  const command = [process.execPath, MAIN, ...common, ...args];
  const [file = '', ...rest] = options.shell === true ? ['bash', '--norc', '-i'] : command;
  const pty = openPty(file, rest, {
    columns: 100,
    rows: 30,
    cwd: folder,
    ...options,
    env,
  });
  test.after(() => pty.end());
  if (options.shell === true) {
    await pty.until('shell$');
    pty.send(`${command.map((word) => `'${word}'`).join(' ')}\r`);
  }
  const { ready } = options;
  await pty.until(ready ?? (() => pty.screen().some((line) => line.startsWith('>'))), 'the program is ready');
  const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
  const stage: UiStage = {
    pty,
    folder,
    async say(text) {
      pty.send(text);
      const end = text.slice(-12).trim();
      await pty.until(() => pty.screen().some((line) => line.includes(end)), `typed: ${text}`);
      await pause();
      pty.send(KEY.enter);
      await pause();
    },
    async press(...keys) {
      for (const key of keys) {
        const mark = pty.mark();
        pty.send(key);
        // A person's keys arrive separately.
        await new Promise((resolve) => setTimeout(resolve, key === KEY.escape ? 120 : 40));
        // A lone Escape must not merge with the next key: wait until it has a visible effect, at most a second, since a busy machine may be slow.
        for (
          let waited_ms = 0;
          key === KEY.escape && pty.written(mark) === '' && waited_ms < 1000;
          waited_ms += 20
        )
          await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async answer(key) {
      await new Promise((resolve) => setTimeout(resolve, SEEN_MS + 100));
      await stage.press(KEY.leader, key);
    },
    gone: (text) => pty.until(() => !stage.shows(text), `gone: ${text}`),
    shows: (text) => pty.screen().some((line) => line.includes(text)),
    inView: (label) => pty.until(`[${label}`),
    coppice: (...words) =>
      execFileSync(process.execPath, [MAIN, ...words, '--database', database], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, ...env, NO_COLOR: '1' },
      }),
    beside: (...words) => beside(words),
    ledger,
    again: (more = ['--continue'], again = {}) => open(test, folder, more, { ...options, ...again }),
  };
  return stage;
}
