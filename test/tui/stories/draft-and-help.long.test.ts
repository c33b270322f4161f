/**
 * Proves in a real terminal that the draft is undone and redone, that Tab on a folder goes on inside it, that what is used most is offered first, and that help
 * is filtered by typing, scrolls, and closes with Esc.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

const RULES = { rules: [{ when: { root: true }, say: 'Heard: {{user}}' }] };
const TAB = '\t';
const [UNDO, ALT_Z] = ['\x1f', '\x1bz'];

it('redo, folders that go on, the most used first', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  const draft = () => pty.screen().find((line) => line.startsWith('>')) ?? '';
  await ui.press('one two');
  await ui.press(UNDO);
  await pty.until(() => !draft().includes('two'), 'undone');
  await ui.press(ALT_Z);
  await pty.until(() => draft() === '> one two', 'redone');
  await ui.press(KEY.ctrl_c);

  mkdirSync(join(ui.folder, 'notes', 'deep'), { recursive: true });
  for (const name of ['notes/first.md', 'notes/deep/second.md']) writeFileSync(join(ui.folder, name), 'x');
  await ui.press('see @note');
  await pty.until(() => pty.screen().some((line) => /notes\/ *$/.test(line)), 'the folder');
  await ui.press(TAB);
  await pty.until('notes/deep/');
  assert.ok(!ui.shows('second.md'), 'only what is in it');
  await ui.press(TAB);
  await pty.until('notes/deep/second.md');
  await ui.press(KEY.enter);
  await pty.until(() => draft() === '> see @notes/deep/second.md', 'taken, not sent');
  await ui.press(KEY.enter);
  await pty.until('Heard: see @notes/deep/second.md');

  const listed = () => pty.screen().filter((line) => /^ {2}[→ ] \/?\w/.test(line));
  await ui.press('/');
  await pty.until(() => listed().length === 10, 'ten rows');
  assert.match(listed()[0] ?? '', /agent /);
  await ui.press(KEY.escape, KEY.ctrl_c);
  await ui.say('/status');
  await pty.until('questions open');
  await ui.press('/');
  await pty.until(() => /status /.test(listed()[0] ?? ''), 'what was used comes first');
});

it('a message that is too long to be meant is sent after a question, and stays the draft until then', async (test) => {
  const ui = await openUi(test, { rules: [{ say: 'Heard it.' }] });
  const { pty } = ui;
  const draft = () => pty.screen().find((line) => line.startsWith('>')) ?? '';
  pty.send(`\x1b[200~${'x'.repeat(2_000_000)}\x1b[201~`);
  await pty.until(() => draft() === '> [pasted 2,000,000 chars]', 'the paste');
  await ui.press(KEY.enter);
  await pty.until('Send 2.0M characters, roughly 500k tokens?');
  await ui.press('n', KEY.enter);
  await ui.gone('Send 2.0M');
  await pty.until(() => draft() === '> [pasted 2,000,000 chars]', 'still the draft');
  assert.ok(!ui.shows('Heard it.'));
  await ui.press(KEY.enter);
  await pty.until('Send 2.0M');
  await ui.press('y', KEY.enter);
  await pty.until('Heard it.');
  await pty.until(() => draft() === '>', 'an empty draft');
});

it('help is filtered, scrolls, and closes with Esc', async (test) => {
  const ui = await openUi(test, RULES, { rows: 20 });
  const { pty } = ui;
  await ui.press(KEY.leader, '?');
  await pty.until('1-18 of ');
  assert.ok(ui.shows(' Go to') && !ui.shows(' Conversations'));
  await ui.press('\x1b[6~', '\x1b[6~');
  await pty.until('21-38 of ');
  for (const key of 'scroll older') await ui.press(key);
  await pty.until('filter: scroll older');
  assert.deepEqual(pty.screen().slice(1, 4), [
    ' Conversations',
    '  Ctrl-F  Ctrl-X /  /find  search in the scrollback: n older, N newer',
    ' type to filter · Esc',
  ]);
  await ui.press(KEY.escape);
  await pty.until('1-18 of ');
  await ui.press(KEY.escape);
  await ui.gone('type to filter');
});
