/** Proves that all trees of the ledger stand in one list, in the UI and in `ps --watch`: one that waits is answered in place, under the rules of the banner, and Enter goes to any of them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { ALONE_MS } from '../../../src/tui/state/question.ts';
import { openPty } from '../terminal/pty.ts';
import { KEY, MAIN, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^clean', step: 0 },
      say: 'I remove it.',
      calls: [{ name: 'bash', input: { command: 'touch removed' } }],
    },
    {
      when: { root: true, user: '^clean', step: 1 },
      calls: [{ name: 'bash', input: { command: 'ls removed' } }],
    },
    { when: { root: true, user: '^clean' }, say: 'It is clean.' },
    { when: { root: true }, say: 'Heard: {{user}}' },
  ],
};

it('what waits elsewhere is shown, answered in place, and gone to; ps --watch shows the same', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  await ui.say('look at it');
  await pty.until('Heard: look at it');
  await ui.press(KEY.leader, 't');
  await pty.until('Trees 1');
  ui.beside('run', '--ask', 'clean up');
  await pty.until('1 waiting for you');
  await ui.press('c', 'l');
  await ui.gone('look at it');
  await ui.press(KEY.escape);
  await pty.until('look at it');
  await ui.press(KEY.up, KEY.up, ' ');
  await pty.until('main wants: bash');
  assert.ok(ui.shows('touch removed') && ui.shows('▸ clean up'));
  // Before it can have been read, a letter answers nothing.
  await ui.press('y');
  assert.ok(!ui.shows('allows this once'));
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 100));
  await ui.press('y');
  await pty.until('ls removed');
  await ui.answer('y');
  await pty.until('It is clean.');
  await ui.gone('1 waiting for you');
  await ui.press(KEY.enter);
  await pty.until('conversation: clean up, in ');
  await pty.until(() => pty.history().includes('It is clean.'));
  assert.ok(!pty.alternate);
  // By the command, too; what is in view counts as read.
  await ui.say('/trees');
  await pty.until('Done 2');
  await ui.press(KEY.escape);
  await ui.say('/quit');
  await pty.ended;

  const watch = openPty(
    process.execPath,
    [MAIN, 'ps', '--watch', '--database', `sqlite:${ui.folder}/ledger.db`],
    {
      ...{ columns: 100, rows: 30, cwd: ui.folder },
      env: { HOME: ui.folder, XDG_CONFIG_HOME: ui.folder, XDG_DATA_HOME: ui.folder },
    },
  );
  test.after(() => watch.end());
  await watch.until('Done 2');
  watch.send(KEY.down);
  await watch.until('▸ look at it');
  watch.send(' ');
  await watch.until('Heard: look at it');
  watch.send(KEY.enter);
  await watch.until('[0 main]');
  await watch.until(() => !watch.alternate && watch.history().includes('Heard: look at it'));
});
