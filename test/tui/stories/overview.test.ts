/**
 * Proves that all trees of the ledger are in one list, in the UI and in `ps --watch`: a waiting one is answered in place, with the same protection as in
 * the banner, and Enter opens any of them.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

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

it('ps --watch and the UI that it becomes: what waits elsewhere is shown, answered in place, and gone to', async (test) => {
  const ui = await openUi(test, RULES, {
    args: ['ps', '--watch'],
    beside: ['run', '--ask', 'clean up'],
    ready: '1 waiting for you',
  });
  const { pty } = ui;
  await ui.press(' ');
  await pty.until('main wants: bash');
  assert.ok(ui.shows('touch removed') && ui.shows('▸ clean up'));
  // A letter answers nothing until the question could have been read.
  await ui.press('y');
  assert.ok(!ui.shows('allows this once'));
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 100));
  await ui.press('y');
  await pty.until('ls removed');
  await ui.answer('y');
  await pty.until('It is clean.');
  await ui.gone('1 waiting for you');
  await ui.press(KEY.enter);
  await ui.inView('0 main');
  await pty.until(() => !pty.alternate && pty.history().includes('It is clean.'), 'the tree is open');

  await ui.say('/new');
  await pty.until('a new conversation');
  await ui.say('look at it');
  await pty.until('Heard: look at it');
  await ui.press(KEY.leader, 't');
  await pty.until('Done 2');
  // Long enough not to stand in the random name of the folder.
  await ui.press('clean');
  await ui.gone('look at it');
  await ui.press(KEY.escape);
  await pty.until('look at it');
  // The newest tree is selected first.
  await ui.press(KEY.down, ' ');
  await pty.until('It is clean.');
  await ui.press(KEY.enter);
  await pty.until('conversation: clean up, in ');
  await pty.until(() => !pty.alternate && ui.shows('It is clean.'), 'it is gone to');
  // The command works too; the tree in view counts as read.
  await ui.say('/trees');
  await pty.until('Done 2');
});
