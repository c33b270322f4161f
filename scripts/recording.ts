import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPty, type Pty } from '../test/tui/terminal/pty.ts';
import { Recording, SIZE, type } from './screens/terminal-recording.ts';

/**
 * `npm run recording`: records two minutes of the real program with a scripted model and a real project, whose test fails at first. Writes the recording for
 * asciinema, and its most important moments as animated pictures, into docs/images.
 */
const root = join(import.meta.dirname, '..');
/** Simulated reading time of a person; also, a question ignores keys right after it appears. */
const READ_MS = 7_500;

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
  recording.write('session', 'A session in the terminal UI of Coppice');
} finally {
  await pty.end();
  rmSync(home, { recursive: true, force: true });
}
