/**
 * Proves that /undo shows and, after a y, reverts what agents changed since the person last wrote, and nothing that others changed; and that redo
 * restores it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const edit = (path: string, old_text: string, new_text: string) => [
  { name: 'read', input: { path } },
  { name: 'patch', input: { path, edits: [{ old_text, new_text }] } },
];

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^first', step: 0 },
      calls: [
        ...edit('a.txt', 'one', 'eins'),
        { name: 'write', input: { path: 'earlier.txt', content: 'x' } },
      ],
    },
    {
      when: { root: true, user: '^second', step: 2 },
      calls: [
        ...edit('a.txt', 'two', 'zwei'),
        ...edit('b.txt', 'one', 'eins'),
        { name: 'write', input: { path: 'made.txt', content: 'new\n' } },
        { name: 'fork', input: { name: 'kid', prompt: 'more' } },
      ],
    },
    { when: { root: true, user: '^second', step: 3 }, calls: [{ name: 'wait', input: { timeout: 30 } }] },
    {
      when: { agent: 'kid', step: 0 },
      calls: [
        ...edit('a.txt', 'three', 'drei'),
        { name: 'send', input: { to: '{{parent_id}}', message: 'changed' } },
      ],
    },
    { when: { user: '^first' }, say: 'begun' },
    { say: 'all done' },
  ],
};

it('takes back what agents changed, and puts it back', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--allow', '*'], rows: 50 });
  const file = (name: string) => join(ui.folder, name);
  const texts = () =>
    ['a.txt', 'b.txt', 'made.txt'].map((name) =>
      existsSync(file(name)) ? readFileSync(file(name), 'utf8') : null,
    );
  writeFileSync(file('a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(file('b.txt'), 'one\n');
  await ui.say('first change');
  await ui.pty.until('begun');
  await ui.say('second change');
  await ui.pty.until('all done');
  // Edits by the person are kept.
  writeFileSync(file('b.txt'), 'eins\nmine\n');
  assert.deepEqual(texts(), ['eins\nzwei\ndrei\n', 'eins\nmine\n', 'new\n']);

  await ui.say('/undo');
  await ui.pty.until('Take back the changes of 2 files');
  await ui.pty.until('b.txt stays as it is: it was changed since');
  await ui.pty.until('+two');
  await ui.pty.until('made.txt  would be removed');
  await ui.press('n');
  await ui.gone('Take back the changes');
  assert.deepEqual(texts(), ['eins\nzwei\ndrei\n', 'eins\nmine\n', 'new\n']);

  await ui.say('/undo');
  await ui.pty.until('Take back the changes of 2 files');
  await ui.press('y', KEY.enter);
  await ui.pty.until('took back the changes of 2 files');
  assert.deepEqual(texts(), ['eins\ntwo\nthree\n', 'eins\nmine\n', null]);
  assert.ok(existsSync(file('earlier.txt')));

  await ui.say('/undo redo');
  await ui.pty.until('Put the changes of 2 files back');
  await ui.press('y', KEY.enter);
  await ui.pty.until('put back the changes of 2 files');
  assert.deepEqual(texts(), ['eins\nzwei\ndrei\n', 'eins\nmine\n', 'new\n']);

  await ui.say('/undo kid');
  await ui.pty.until('Take back the changes of 1 file,');
  await ui.press('y', KEY.enter);
  await ui.pty.until('took back the changes of 1 file;');
  assert.deepEqual(texts(), ['eins\nzwei\nthree\n', 'eins\nmine\n', 'new\n']);
  await ui.say('/undo main');
  await ui.pty.until('a.txt stays as it is: another agent has changed it since');
});
