/**
 * Proves in a real terminal that drafts are edited with the commands of vim where the configuration or `/vim` wants it, that the mode is shown, and that Esc, Ctrl-R and the
 * letters that answer questions do beside it what they do without.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { SEEN_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    { when: { user: '^ask', tool: 'bash' }, say: 'asked' },
    { when: { user: '^ask' }, calls: [{ name: 'bash', input: { command: 'echo it >made.txt' } }] },
    { when: { user: '^slow' }, say: 'one two three four five six seven eight nine ten', chunk_ms: 9_000 },
    { say: 'heard {{user}}' },
  ],
};

it('edits as vim does once it is on, and asks, interrupts and goes back as ever', async (test) => {
  const ui = await openUi(test, RULES, { columns: 80, rows: 24 });
  const { pty } = ui;
  const draft = (text: string) =>
    pty.until(
      () => pty.screen().some((line) => line.trimEnd() === `> ${text}`.trimEnd()),
      `the draft: ${text}`,
    );
  const read = () => new Promise((resolve) => setTimeout(resolve, SEEN_MS + 300));
  assert.ok(!ui.shows('INSERT'));
  await ui.say('/vim');
  await pty.until('INSERT');
  pty.send('say helo now');
  await draft('say helo now');
  await ui.press(KEY.escape);
  await pty.until('NORMAL');
  await ui.press('b', 'b', 'c', 'w');
  await pty.until('INSERT');
  pty.send('hello');
  await draft('say hello now');
  await ui.press(KEY.escape);
  await pty.until('NORMAL');
  await ui.press('w', 'D', 'u', '\x12');
  await draft('say hello');
  await ui.press('A');
  pty.send('you');
  await draft('say hello you');
  await ui.press(KEY.escape);
  await pty.until('NORMAL');
  await ui.press(KEY.enter);
  await pty.until('heard say hello you');
  await pty.until('INSERT');

  // With nothing written Esc interrupts at once, and again offers to list what was said.
  await ui.say('slow');
  await pty.until('Esc interrupts');
  await ui.press(KEY.escape);
  await pty.until('interrupted');
  await pty.until('NORMAL');
  await ui.press(KEY.escape);
  await pty.until('Esc again lists what was said');
  await ui.press(KEY.leader, 'b');
  await pty.until('Enter edit');
  await ui.press(KEY.escape);
  await ui.gone('Enter edit');

  // In the normal mode a letter answers the question that was called up, and is no command.
  await ui.press('i');
  await ui.say('ask me');
  await pty.until('1 of 1');
  await read();
  await ui.press(KEY.escape);
  await ui.gone('1 of 1');
  await pty.until('NORMAL');
  await ui.press(KEY.leader, '!');
  await pty.until('1 of 1');
  await read();
  await ui.press('y');
  await pty.until('asked');
  await draft('');

  await ui.press('i');
  await ui.say('/vim');
  await ui.gone('INSERT');
  await ui.press(KEY.ctrl_c, KEY.ctrl_c);
  await pty.ended;

  const folder = join(ui.folder, 'coppice');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ tui: { vim: true } }));
  const again = await ui.again();
  await again.pty.until('INSERT');
});
