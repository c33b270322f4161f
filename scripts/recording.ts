import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPty, type Pty } from '../test/tui/terminal/pty.ts';
import { DARK, LIGHT, type Palette, terminalPicture, terminalRows } from './screens/terminal-svg.ts';

/**
 * `npm run recording`: records two minutes of the real program with a scripted model and a real project, whose test fails at first. Writes the recording for
 * asciinema, and its most important moments as animated pictures, into docs/images.
 */
const root = join(import.meta.dirname, '..');
const IMAGES = join(root, 'docs', 'images');
const SIZE = { columns: 100, rows: 28 };
/** Milliseconds between two simulated key presses. */
const KEY_MS = 70;
/** Simulated reading time of a person; also, a question ignores keys right after it appears. */
const READ_MS = 7_500;
const SAMPLE_MS = 25;

// Always the same folder, because its name is visible in the recording.
const home = join(tmpdir(), 'coppice-recording');
const project = join(home, 'shop');

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test --test-reporter=dot" } }\n',
  'src/db.js':
    'const handles = new Set();\n\nexport function open(file) {\n  const handle = {\n    rows: () => [{ id: 1, paid: true }, { id: 2, paid: false }],\n    close: () => handles.delete(handle),\n  };\n  handles.add(handle);\n  return handle;\n}\n\nexport const openHandles = () => handles.size;\n',
  'src/orders.js':
    "import { open } from './db.js';\n\nexport function orders() {\n  const db = open('orders.db');\n  return db.rows().filter((row) => row.paid);\n}\n",
  'test/orders.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { openHandles } from '../src/db.js';\nimport { orders } from '../src/orders.js';\n\ntest('only what is paid', () => assert.equal(orders().length, 1));\ntest('no handle stays open', () => assert.equal(openHandles(), 0));\n",
};

function makeProject(): void {
  rmSync(home, { recursive: true, force: true });
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(project, name, '..'), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const git = (...args: string[]) => execFileSync('git', ['-C', project, ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=shop', '-c', 'user.email=shop@example.com', 'commit', '-qm', 'The shop');
  cpSync(join(import.meta.dirname, 'screens', 'recording.json'), join(home, 'recording.json'));
}

/** Contents of the screen for some seconds, for each palette. */
interface Frame {
  readonly seconds: number;
  readonly parts: ReadonlyMap<Palette, readonly string[]>;
}

/** Animated picture that shows the frames in a loop; with `prefers-reduced-motion`, only the last one. */
function movingPicture(frames: readonly Frame[], palette: Palette): string {
  const all = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let from = 0;
  const styles = frames.map(({ seconds }, index) => {
    const [begin, end] = [from / all, (from + seconds) / all].map((part) => `${(part * 100).toFixed(2)}%`);
    from += seconds;
    const hidden = index === 0 ? '' : '0%{visibility:hidden}';
    return `@keyframes f${index}{${hidden}${begin}{visibility:visible}${end}{visibility:hidden}}#f${index}{animation:f${index} ${all}s step-end infinite}`;
  });
  const last = `@media (prefers-reduced-motion){${frames.map((_, index) => `#f${index}`).join(',')}{animation:none}#f${frames.length - 1}{visibility:visible}}`;
  return terminalPicture(SIZE, palette, 'A session in the terminal UI of Coppice', [
    `<style>.f{visibility:hidden}${styles.join('')}${last}</style>`,
    ...frames.map(
      ({ parts }, index) => `<g class="f" id="f${index}">${(parts.get(palette) ?? []).join('')}</g>`,
    ),
  ]);
}

/** Output of the program with its times in seconds, and the frames of the pictures. */
class Recording {
  readonly #pty: Pty;
  readonly #began = performance.now();
  readonly #lines: string[] = [];
  readonly #frames: Frame[] = [];
  readonly #timer: NodeJS.Timeout;
  #mark = 0;

  constructor(pty: Pty) {
    this.#pty = pty;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  #sample(): void {
    const text = this.#pty.written(this.#mark);
    if (text === '') return;
    this.#mark = this.#pty.mark();
    this.#lines.push(JSON.stringify([this.#seconds(), 'o', text]));
  }

  #seconds(): number {
    return Number(((performance.now() - this.#began) / 1_000).toFixed(3));
  }

  /** Adds the current screen as a frame that is shown for this long. */
  frame(seconds: number): void {
    const { terminal } = this.#pty;
    const parts = [DARK, LIGHT].map((one) => [one, terminalRows(terminal, 0, SIZE.rows, one)] as const);
    this.#frames.push({ seconds, parts: new Map(parts) });
  }

  write(): void {
    clearInterval(this.#timer);
    this.#sample();
    const header = {
      version: 2,
      width: SIZE.columns,
      height: SIZE.rows,
      title: 'Coppice',
      env: { TERM: 'xterm-256color' },
    };
    mkdirSync(IMAGES, { recursive: true });
    writeFileSync(join(IMAGES, 'session.cast'), `${[JSON.stringify(header), ...this.#lines].join('\n')}\n`);
    for (const [name, palette] of Object.entries({ dark: DARK, light: LIGHT }))
      writeFileSync(join(IMAGES, `session-${name}.svg`), movingPicture(this.#frames, palette));
    console.log(`${this.#seconds()} s, ${this.#frames.length} pictures`);
  }
}

async function type(pty: Pty, text: string): Promise<void> {
  for (const letter of text) {
    pty.send(letter);
    await pause(KEY_MS);
  }
  await pause(500);
  pty.send('\r');
}

async function answered(pty: Pty, question: string): Promise<void> {
  pty.send('\x18y');
  await pty.until(() => pty.screen().every((line) => !line.includes(question)), `${question}: answered`);
}

makeProject();
const pty = openPty(
  process.execPath,
  [join(root, 'src/cli/main.ts'), '--model', 'scripted:../recording.json'],
  { ...SIZE, cwd: project, env: { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home } },
);
const recording = new Recording(pty);
try {
  await pty.until('/help');
  await pause(1_000);
  await type(pty, 'The shop runs out of file handles. Find the leak, fix it, and prove it.');
  await pty.until('fork test-runner');
  recording.frame(2.5);
  await pty.until('wait 3 agents');
  await pty.until('waiting 3s');
  recording.frame(3);
  pty.send('\x1b2');
  await pty.until('One caller');
  await pause(1_500);
  recording.frame(2.5);
  pty.send('\x1b0');
  await pty.until('test-runner wants: bash');
  await pause(READ_MS);
  recording.frame(3);
  pty.send('\x18s');
  await pty.until('allow from now on');
  await pause(READ_MS);
  pty.send('\x1b[C');
  await pty.until('[this tree]');
  await pause(READ_MS);
  recording.frame(4);
  await answered(pty, 'wants: bash');
  pty.send('\x18a');
  await pty.until('Agents 4');
  await pause(2_000);
  recording.frame(2.5);
  pty.send('\x1b');
  await pty.until('the pool counts');
  await pause(700);
  pty.send('\x1b');
  await pty.until('interrupted');
  await pause(2_500);
  await type(pty, 'No pool, please: close the handle in orders(), and change nothing else.');
  await pty.until('No pool');
  recording.frame(3.5);
  await pty.until('wants: patch');
  await pause(READ_MS);
  recording.frame(4);
  await answered(pty, 'wants: patch');
  await pty.until('in src/orders.js.');
  await pause(READ_MS);
  recording.frame(5);
  await type(pty, '/diff');
  await pty.until('+  try {');
  await pause(READ_MS);
  recording.frame(4);
  await type(pty, '/cost');
  await pty.until('in all');
  await pause(READ_MS);
  recording.frame(3);
  pty.send('\x18t');
  await pty.until('Trees 1');
  await pause(READ_MS);
  recording.frame(3);
  pty.send('\x1b');
  await pause(2_000);
  pty.send('\x03');
  await pause(300);
  pty.send('\x03');
  await pty.until('come back with');
  await pause(3_000);
  recording.write();
} finally {
  await pty.end();
  rmSync(home, { recursive: true, force: true });
}
