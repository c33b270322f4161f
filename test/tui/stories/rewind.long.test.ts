/**
 * Proves in a real terminal that one goes back to a message, with its text in the draft and the files of then, as another conversation; that the first message can be
 * written anew, too; and that the old conversations stay.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    { when: { user: '^make', tool: 'write' }, say: 'made it' },
    { when: { user: '^make' }, calls: [{ name: 'write', input: { path: 'made.txt', content: 'x' } }] },
    { say: 'heard {{user}}' },
  ],
};

it('goes back to before a message, which can be written anew', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--allow', 'write'], rows: 40 });
  const { pty } = ui;
  const made = () => existsSync(join(ui.folder, 'made.txt'));
  const back = async () => {
    await ui.press(KEY.leader, 'b');
    await pty.until('Enter edit');
  };
  await ui.say('hello');
  await pty.until('heard hello');
  await ui.say('make a file');
  await pty.until('made it');
  assert.ok(made());

  await ui.press(KEY.escape);
  await pty.until('Esc again lists what was said');
  await back();
  await ui.press('m', 'a', 'k', 'e');
  await pty.until('filter: make');
  await ui.press(KEY.enter);
  await pty.until('give 1 file the content of then');
  await pty.until('made.txt  would be removed');
  await ui.press('y', KEY.enter);
  await pty.until('as it was before "make a file"');
  await pty.until('> make a file');
  assert.ok(!made());
  await ui.press(KEY.ctrl_c);
  await ui.say('something else');
  await pty.until('heard something else');

  await ui.say('/rewind 1');
  await pty.until('as it was before "hello"');
  await pty.until('> hello');
  await ui.press(KEY.ctrl_c);
  await ui.say('good day');
  await pty.until('heard good day');
  const said = await ui.ledger(async (store) => {
    const roots = await store.agents({ roots: true });
    const histories = await Promise.all(roots.map(({ id }) => store.history(id)));
    return histories.map((messages) =>
      messages.flatMap(({ kind, content }) => (kind === 'user' ? [content.text] : [])).join(),
    );
  });
  assert.deepEqual(said.sort(), ['good day', 'hello,make a file', 'hello,something else']);
});
