/** Proves that a terminal that can only print lines (`TERM=dumb`) shows the conversation as lines, without any control sequence, and accepts answers. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import { MAIN } from '../../house/program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openPty, type Pty } from '../terminal/pty.ts';

it('runs a whole session in lines: conversation, list, answered question, child, end', async (test) => {
  const folder = temporaryFolder();
  const rules = {
    rules: [
      {
        when: { root: true, user: '^write', step: 1 },
        calls: [{ name: 'bash', input: { command: `echo x > it.txt${' '.repeat(200)}; cat it.txt` } }],
      },
      { when: { user: '^write' }, say: 'It is written: {{result}}' },
      { say: 'You said: {{user}}' },
    ],
  };
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(rules));
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const config = join(folder, 'config.json');
  writeFileSync(config, '{}');
  const args = [
    MAIN,
    '--database',
    database,
    '--config',
    config,
    '--model',
    `scripted:${join(folder, 'rules.json')}`,
  ];
  const pty = openPty(process.execPath, args, {
    columns: 300,
    rows: 40,
    cwd: folder,
    env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TERM: 'dumb' },
  });
  test.after(() => pty.end());
  const line = (text: string) => pty.send(`${text}\r`);
  await pty.until('/help shows');
  line('/clear');
  await pty.until('a new conversation');
  line('hello there');
  await pty.until('You said: hello there');
  for (const [word, says] of [
    ['init', 'AGENTS.md'],
    ['status', 'used     '],
    ['Config', `coppice --database ${database} --config ${config} doctor shows`],
    ['permissions', '/rules shows what you granted'],
    ['mcp', `coppice --database ${database} --config ${config} mcp add files`],
    ['context', 'descriptions of '],
    ['rewind', '/rewind NUMBER edits one'],
    ['copy', 'this terminal takes nothing to copy'],
    ['constructor', 'no command /constructor'],
  ] as const) {
    line(`/${word}`);
    await pty.until(says);
  }
  line('/agents');
  await pty.until('Agents 1');
  line('/trees');
  await pty.until('hello there, ');
  line('write it');
  await pty.until('main wants: bash');
  await pty.until('[200 spaces]; cat it.txt');
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS + 100));
  line('y');
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(!existsSync(join(folder, 'it.txt')), 'a letter is a message here');
  line('/allow');
  await pty.until('ok, allowed by you');
  await pty.until('You said: y');
  assert.ok(existsSync(join(folder, 'it.txt')));
  line('/kill');
  await pty.until('Kill main?');
  line('y');
  await pty.until('killed by you');
  line('/exit');
  assert.equal((await pty.ended).exitCode, 0);
  await pty.until('all its agents have ended');
  onlyLines(pty);
});

it('shows lists, rules, differences, children and failures in lines, too, and goes on after a first message that fails', async (test) => {
  const folder = temporaryFolder();
  const file = join(folder, 'rules.json');
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const hostile = 'red \u001b[31m \u0007 \u009b1m bell';
  writeFileSync(file, '{ "rules": [{ "oops": 1 }] }');
  writeFileSync(join(folder, 'a.txt'), 'one\n');
  const pty = openPty(process.execPath, [MAIN, '--database', database, '--model', `scripted:${file}`], {
    columns: 100,
    rows: 300,
    cwd: folder,
    env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TERM: 'dumb' },
  });
  test.after(() => pty.end());
  /** Types a line and waits for each of the expected texts. */
  const typed = async (text: string, ...shown: string[]) => {
    const mark = pty.mark();
    pty.send(`${text}\r`);
    for (const one of shown) await pty.until(() => pty.written(mark).includes(one), `${text}: ${one}`);
  };
  await pty.until('/help shows');
  await typed('split', 'rules.0');
  const rules = [
    {
      when: { root: true, step: 0 },
      calls: [
        { name: 'fork', input: { name: 'one', prompt: 'work' } },
        { name: 'read', input: { path: 'a.txt' } },
        { name: 'patch', input: { path: 'a.txt', edits: [{ old_text: 'one', new_text: hostile }] } },
      ],
    },
    { when: { root: true, user: '^split' }, say: `All\n\n| ${hostile} | b |\n| - | - |\n| 1 | 2 |\n` },
    { when: { agent: 'one', step: 0 }, calls: [{ name: 'bash', input: { command: 'echo hi' } }] },
    { when: { agent: 'one' }, say: 'One is done.' },
  ];
  writeFileSync(file, JSON.stringify({ rules }));
  await typed('/model', 'NAME uses one');
  await typed('split', 'main wants: patch', 'one asks: bash', '-one', '+red');
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS + 100));
  await typed('/allow', 'patch a.txt', 'one wants: bash', 'main: idle');
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS + 100));
  await typed('/allow session', 'which rule?');
  await typed('/allow session bash:echo *', 'one: idle');
  await typed('/rules', 'bash:echo *');
  await typed('/diff', 'a.txt', 'main', '+red');
  await typed('/agent one', 'in view: one', 'forked here', 'One is done.');
  await typed('/agent main', 'in view: main');
  await typed('/trees', 'split, ');
  await typed('/resume', 'no other conversation');
  await typed('/agent nobody', 'no agent "nobody"');
  await typed('/nonsense', 'no command /nonsense');
  await typed('fail', 'no rule of', '/retry');
  await typed('/help', '/quit: quit');
  await typed('/setup', 'Which model?', 'q leaves');
  await typed('q');
  await pty.ended;
  onlyLines(pty);
});

/** Asserts that the output has no control character except line ends. */
function onlyLines(pty: Pty): void {
  const controls = [...pty.written().replaceAll('\r\n', '\n')].filter((one) => /[^\P{Cc}\n]/u.test(one));
  assert.deepEqual(controls, []);
}
