/** Proves that the draft can be edited in the person's own editor, which owns the terminal meanwhile, and that nothing is lost if there is no editor. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

const CTRL_G = '\x07';

it('the editor gets the draft and the terminal, agents go on, and what it wrote is the draft', async (test) => {
  const tools = temporaryFolder();
  const editor = join(tools, 'edit');
  // The editor reads a line from the terminal, with echo on and Ctrl-C as a signal: the terminal modes from before the program.
  const script = (modes: string) =>
    `#!/bin/sh\ntrap '' INT\nstty -a > ${modes}\n` +
    'echo "EDITOR $1 HAS: $(cat "$2")"\nread line\nprintf "%s\\nsecond line\\n" "$line" > "$2"\necho "$2" > "$0.file"\n';
  writeFileSync(editor, script(join(tools, 'modes')), { mode: 0o755 });
  const rules = {
    rules: [{ when: { user: '^slow' }, say: 'Slow and done.', delay_ms: 700 }, { say: 'Got: {{user}}' }],
  };
  const ui = await openUi(test, rules, { env: { VISUAL: `${editor} --flag`, EDITOR: 'false' } });
  const { pty } = ui;
  await ui.say('slow please');
  await ui.press('d', 'r', 'a', 'f', 't', CTRL_G);
  await pty.until('EDITOR --flag HAS: draft');
  const said = () => ui.ledger(async (store) => (await store.agents({}))[0]?.reply === 'Slow and done.');
  await until(said, 'the agent goes on');
  assert.ok(!ui.shows('Slow and done.'), 'nothing is drawn over the editor');
  // The editor ends before the program, which is stopped here as if it were busy, handles Ctrl-C.
  process.kill(pty.pid, 'SIGSTOP');
  await ui.press('\x03');
  pty.send('from the editor\r');
  await until(() => existsSync(`${editor}.file`), 'the editor ends');
  process.kill(pty.pid, 'SIGCONT');
  await pty.until('> from the editor');
  await pty.until('second line');
  assert.ok(
    pty.history().some((row) => row.includes('Slow and done.')),
    'what was said meanwhile is there',
  );
  await ui.press(KEY.enter);
  await pty.until('Got: from the editor');
  const file = readFileSync(`${editor}.file`, 'utf8').trim();
  assert.match(readFileSync(join(tools, 'modes'), 'utf8'), / icanon[\s\S]* echo /);
  assert.ok(!existsSync(file), 'the file is removed');
});

it('without an editor, or with one that fails, the draft stays and the reason is said', async (test) => {
  const none = await openUi(test, { rules: [{ say: 'hi' }] }, { env: { VISUAL: '', EDITOR: '' } });
  await none.press('a', 'b', 'c', CTRL_G);
  await none.pty.until('export EDITOR=vim');
  assert.ok(none.shows('no editor is set') && none.shows('> abc'));
  const missing = await openUi(
    test,
    { rules: [{ say: 'hi' }] },
    { env: { VISUAL: 'no-such-editor', EDITOR: '' } },
  );
  await missing.press('a', 'b', 'c', '\x18', 'd');
  await missing.pty.until('the editor no-such-editor cannot be started');
  assert.ok(missing.shows('> abc'));
  await missing.press('\x1f');
  await missing.pty.until(() => missing.pty.screen().includes('>'), 'undo removes the word');
});
