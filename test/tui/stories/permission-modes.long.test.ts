/**
 * Proves that Shift-Tab switches what the whole tree may do without asking, that the mode is always visible and survives a restart, and that deny rules
 * apply in every mode.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const SHIFT_TAB = '\x1b[Z';
const write = (path: string) => ({ name: 'write', input: { path, content: 'text\n' } });

const RULES: ScriptedRules = {
  rules: [
    { when: { agent: 'kid', step: 0 }, calls: [write('kid.txt')] },
    { when: { agent: 'kid' }, say: 'the kid is done' },
    { when: { user: '^one', step: 0 }, calls: [write('one.txt'), write('secret.txt')] },
    {
      when: { root: true, user: '^two', step: 2 },
      calls: [
        write('two.txt'),
        { name: 'bash', input: { command: 'touch two.sh' } },
        { name: 'fork', input: { name: 'kid', prompt: 'write' } },
      ],
    },
    { when: { root: true, user: '^three', tool: 'write' }, say: 'done: three' },
    { when: { root: true, user: '^three' }, calls: [write('three.txt')] },
    { say: 'done: {{user}}' },
  ],
};

it('accepts edits, plans only, and asks again', async (test) => {
  const ui = await openUi(test, RULES, { args: ['--deny', 'write:secret*', '--allow', 'bash'] });
  const { pty } = ui;
  const made = (file: string) => existsSync(join(ui.folder, file));
  await pty.until('/ commands · asks');
  await ui.press(SHIFT_TAB);
  await pty.until(' ACCEPTS EDITS ');
  await ui.say('one');
  await pty.until('done: one');
  assert.deepEqual([made('one.txt'), made('secret.txt')], [true, false], 'a deny rule comes first');
  await ui.press(SHIFT_TAB);
  await pty.until(' PLANS ONLY ');
  await pty.until('only plans from now on');
  await ui.say('two');
  await pty.until('done: two');
  await ui.press(KEY.alt(1));
  await pty.until('the kid is done');
  assert.deepEqual([made('two.txt'), made('two.sh'), made('kid.txt')], [false, false, false]);
  await pty.until('the user has switched to planning');
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await ui.say('/quit');
  await pty.ended;

  const back = await ui.again();
  await back.pty.until(' PLANS ONLY ');
  await back.say('/mode ask');
  await back.gone(' PLANS ONLY ');
  await back.say('three');
  await back.pty.until('wants: write');
  await back.answer('y');
  await back.pty.until('done: three');
  assert.ok(made('three.txt'));
});
