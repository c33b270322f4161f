/** Proves that a terminal which can only print lines (`TERM=dumb`) gets the conversation in lines, without one control sequence, and can answer. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { SEEN_MS } from '../../../src/tui/state/question.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { openPty } from '../terminal/pty.ts';
import { MAIN } from './ui-stage.ts';

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
  const args = [MAIN, '--database', database, '--model', `scripted:${join(folder, 'rules.json')}`];
  const pty = openPty(process.execPath, args, {
    columns: 100,
    rows: 40,
    cwd: folder,
    env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TERM: 'dumb' },
  });
  test.after(() => pty.end());
  const line = (text: string) => pty.send(`${text}\r`);
  await pty.until('/help shows');
  line('hello there');
  await pty.until('You said: hello there');
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
  line('/quit');
  assert.equal((await pty.ended).exitCode, 0);
  await pty.until('all its agents have ended');
  const controls = [...pty.written()].filter((character) => character < ' ' && !'\r\n\t'.includes(character));
  assert.deepEqual(controls, []);
});
