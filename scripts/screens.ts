import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPty, type Pty, type PtyOptions } from '../test/tui/terminal/pty.ts';
import { withMarkedBlocks } from './marked-blocks.ts';
import { DARK, LIGHT, terminalPicture, terminalRows } from './screens/terminal-svg.ts';

/** `npm run screens`: writes the pictures of the terminal UI, taken from the real program, into docs/. */
const root = join(import.meta.dirname, '..');
const DOCUMENT = join(import.meta.dirname, '..', 'docs/tui.md');
const IMAGES = join(root, 'docs/images');
const SIZE = { columns: 100, rows: 28 };
/** Pause before keys are sent; a question ignores keys right after it appears. */
const SEEN_MS = 500;

// Always the same folder, because its name is visible in the pictures.
const home = join(tmpdir(), 'coppice-screens');
const project = join(home, 'shop');

function makeProject(): void {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(project, 'src'), { recursive: true });
  mkdirSync(join(project, 'dist'), { recursive: true });
  writeFileSync(
    join(project, 'src/db.ts'),
    'export const file = "orders.db";\nconst db = open(file);\n\nexport function orders() {\n  return open(file);\n}\n',
  );
  writeFileSync(join(project, 'src/log.ts'), 'const log = open("shop.log");\n');
  writeFileSync(join(project, 'measure.sh'), '#!/bin/sh\nsleep 120\n', { mode: 0o755 });
}

/** The program as a person starts it, with a scripted model. */
async function start(rules: string, args: readonly string[] = [], options: PtyOptions = {}): Promise<Pty> {
  makeProject();
  cpSync(join(import.meta.dirname, 'screens', `${rules}.json`), join(home, `${rules}.json`));
  const command = [
    join(root, 'src/cli/main.ts'),
    '--database',
    `sqlite:${join(home, 'ledger.db')}`,
    '--model',
    `scripted:${join(home, `${rules}.json`)}`,
    ...args,
  ];
  const env = { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, COLORTERM: 'truecolor' };
  const pty = openPty(process.execPath, command, { ...SIZE, cwd: project, env, ...options });
  await pty.until('/help');
  return pty;
}

/** First row of the conversation, below the greeting, which contains the path of a local file. */
function firstRow(rows: readonly string[]): number {
  return rows.some((row) => row.startsWith('coppice ')) ? rows.findIndex((row) => row.startsWith('> ')) : 0;
}

/** The screen from that row on, with the spinner frozen. */
function picture(pty: Pty): string {
  const rows = pty.screen();
  const text = rows.slice(firstRow(rows)).join('\n');
  const still = text.replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠹');
  return `\`\`\`text\n${still.replace(/^\n+|\s+$/g, '')}\n\`\`\``;
}

async function typed(pty: Pty, text: string): Promise<void> {
  pty.send(text);
  await pty.until(text);
  pty.send('\r');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function fanIn(blocks: Map<string, string>): Promise<void> {
  const pty = await start('fan-in', ['--allow', 'bash:./measure.sh *']);
  try {
    await typed(pty, 'Audit this shop: split the work, then report.');
    await pty.until('received');
    await pty.until('idle ');
    await pty.until('waiting 4s');
    blocks.set('screen-fan-in', picture(pty));
    pty.send('\x18a');
    await pty.until('Agents 4');
    blocks.set('screen-agents', picture(pty));
    pty.send('\x1b');
    await pty.until('Three questions');
    await typed(pty, '/capture');
    await pty.until('CAPTURE');
    await typed(pty, 'Enumerate all the *.md files,');
    await pty.until('1 line ');
    await typed(pty, 'count their words and build a summary table.');
    await pty.until('2 lines');
    await pty.until('┆ count');
    blocks.set('screen-capture', picture(pty));
  } finally {
    await pty.end();
  }
}

async function approval(blocks: Map<string, string>): Promise<void> {
  const pty = await start('approval');
  try {
    await typed(pty, 'Clean up.');
    await pty.until('wants: bash');
    blocks.set('screen-approval', picture(pty));
    await pause(SEEN_MS);
    pty.send('\x18s');
    await pty.until('allow from now on');
    blocks.set('screen-grant', picture(pty));
    pty.send('\x1b');
    await pty.until(() => pty.screen().every((line) => !line.includes('allow from now on')), 'back');
    await pause(SEEN_MS);
    pty.send('\x18n');
    await pty.until(() => pty.screen().every((line) => !line.includes('wants: bash')), 'answered');
    await typed(pty, '/agent grep-all');
    await pty.until('Then it stays.');
    await typed(pty, '/kill');
    await pty.until('[y] kill');
    pty.send('y');
    await pty.until('[1 file-reader]');
    await typed(pty, '/agent grep-all');
    await pty.until('ended: no input');
    blocks.set('screen-dead', picture(pty));
  } finally {
    await pty.end();
  }
}

/** Starts a command on the same ledger, which runs concurrently with the program. */
function beside(rules: string, ...args: string[]): ChildProcess {
  const place = [
    '--database',
    `sqlite:${join(home, 'ledger.db')}`,
    '--model',
    `scripted:${join(home, `${rules}.json`)}`,
  ];
  return spawn(process.execPath, [join(root, 'src/cli/main.ts'), ...args, ...place], {
    ...{ cwd: project, stdio: 'ignore' },
    env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
  });
}

async function overview(blocks: Map<string, string>): Promise<void> {
  const pty = await start('trees');
  const runs: ChildProcess[] = [];
  try {
    await typed(pty, 'What do these files have in common?');
    await pty.until('nobody closes.');
    pty.send('\x18t');
    for (const [args, word] of [
      [['Find the leaks.'], 'Unread 1'],
      [['--allow', 'bash:./measure.sh *', 'Test the shop.'], 'At work 1'],
      [['--ask', 'Clean up the build folder.'], 'Waits for you 1'],
    ] as const) {
      runs.push(beside('trees', 'run', ...args));
      await pty.until(word);
    }
    pty.send('\t ');
    await pty.until('main wants: bash');
    blocks.set('screen-trees', picture(pty));
  } finally {
    for (const run of runs) run.kill('SIGTERM');
    await pty.end();
  }
}

/** Writes the same moment in colour, on a dark and on a light background. */
async function colours(): Promise<void> {
  for (const [name, palette] of Object.entries({ dark: DARK, light: LIGHT })) {
    const pty = await start('colours', [], { background: palette.ground });
    try {
      await typed(pty, 'Who opens and never closes?');
      await pty.until('answers 1');
      const parts = terminalRows(pty.terminal, 0, SIZE.rows, palette);
      const title = `The terminal UI of Coppice on a ${name} background`;
      writeFileSync(join(IMAGES, `terminal-${name}.svg`), terminalPicture(SIZE, palette, title, parts));
    } finally {
      await pty.end();
    }
  }
}

const blocks = new Map<string, string>();
try {
  await fanIn(blocks);
  await approval(blocks);
  await overview(blocks);
  await colours();
} finally {
  rmSync(home, { recursive: true, force: true });
}
writeFileSync(DOCUMENT, withMarkedBlocks(readFileSync(DOCUMENT, 'utf8'), blocks));
