import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPty } from '../test/tui/terminal/pty.ts';
import { Recording, SIZE, type } from './screens/terminal-recording.ts';

/**
 * `npm run recording`, second part: records in a shell how a tree of four agents is taken back, edited, gone on with, compared, asked why, and continued in two
 * ways. Writes the recording for asciinema and the animated pictures of docs/time-machine.md into docs/images.
 */
const READ_MS = 4_000;
const home = join(tmpdir(), 'coppice-recording');
const project = join(home, 'sale');
const rules = join(import.meta.dirname, 'screens', 'time-machine.json');

rmSync(home, { recursive: true, force: true });
mkdirSync(project, { recursive: true });
writeFileSync(join(project, 'stock.txt'), 'book: 3\n');
const git = (...args: string[]) => execFileSync('git', ['-C', project, ...args], { stdio: 'ignore' });
git('init', '-q');
git('add', '.');
git('-c', 'user.name=shop', '-c', 'user.email=shop@example.com', 'commit', '-qm', 'The sale');
cpSync(rules, join(home, 'careful.json'));
writeFileSync(join(home, 'bold.json'), readFileSync(rules, 'utf8').replace('sell now', 'sell ten a day'));
mkdirSync(join(home, 'coppice'));
writeFileSync(join(home, 'coppice', 'config.json'), '{ "model": "scripted:../careful.json" }\n');

const program = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts');
writeFileSync(join(home, 'rc'), `PS1='$ '; coppice() { '${process.execPath}' '${program}' "$@"; }\n`);
const pty = openPty('/bin/bash', ['--noprofile', '--rcfile', join(home, 'rc'), '-i'], {
  ...SIZE,
  cwd: project,
  env: { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
});
const recording = new Recording(pty);

/** Types a command on an empty screen, and waits for its last words and the prompt. */
async function command(line: string, last: string | RegExp, seconds: number): Promise<string> {
  pty.send('\f');
  await pause(500);
  await type(pty, line);
  await pty.until(() => {
    const screen = pty.screen();
    const rows = screen.map((row) => row.trimEnd()).filter((row) => row !== '');
    return rows.some((row) => row.search(last) >= 0 && !row.startsWith('$')) && rows.at(-1) === '$';
  }, line);
  await pause(READ_MS);
  recording.frame(seconds);
  return pty.screen().join('\n');
}

try {
  await pause(1_000);
  await command('coppice run "Plan the sale" --yes && cat plan.txt', 'Plan: order first', 4);
  const list = await command('coppice rewind stock', 'Go back to one of these', 4);
  const seq = /^ *(\d+) +answer .*Three are left/m.exec(list)?.[1];
  const [, tree = ''] = /coppice rewind (\w{8}) --to/.exec(list) ?? [];
  const cut = await command(
    `coppice rewind --to "stock#${seq}" --edit "Thirty are left." --files`,
    'it rests',
    5,
  );
  const [, other = ''] = /the new tree is (\w{8})/.exec(cut) ?? [];
  await command('coppice resume && cat plan.txt', 'Plan: sell now', 4);
  await command(`coppice diff ${tree} ${other}`, 'the same', 5);
  const why = await command('coppice why plan.txt:2', 'Plan the sale', 5);
  const [, at = ''] = /main #(\d+): write plan\.txt/.exec(why) ?? [];
  await command(
    `coppice what-if ${other} --at "before ${at}" --model scripted:../careful.json,scripted:../bold.json --check "grep ten plan.txt"`,
    'to go on with it',
    6,
  );
  recording.write('time-machine', 'A tree is taken back, edited and continued in two ways');
} finally {
  await pty.end();
  rmSync(home, { recursive: true, force: true });
}
