/** Proves that a question from an agent comes up over whatever the person does, loses no typed letter, and is answered on purpose only. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

it('approvals come up over a half-typed draft, are deaf at first, and are answered once', async (test) => {
  const asking: ScriptedRules = {
    rules: [
      { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'child', prompt: 'ask' } }] },
      { when: { root: true }, say: 'Main rests.' },
      {
        when: { step: 0 },
        delay_ms: 1_500,
        calls: [{ name: 'bash', input: { command: 'echo allowed > made.txt; cat made.txt' } }],
      },
      {
        when: { step: 1 },
        say: 'It said {{result}}',
        calls: [{ name: 'bash', input: { command: 'rm made.txt' } }],
      },
      { say: 'Then: {{result}}' },
    ],
  };
  const ui = await openUi(test, asking);
  const { pty } = ui;
  await ui.say('go');
  await ui.press('h', 'a', 'l', 'f');
  await pty.until('main › child wants: bash');
  pty.send('y');
  await pty.until('> halfy');
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(
    pty.screen().some((line) => line.includes('wants: bash')),
    'a key that comes at once answers nothing',
  );
  await ui.press('y');
  await pty.until('rm made.txt');
  await new Promise((resolve) => setTimeout(resolve, 500));
  await ui.press('m');
  await ui.press(...'keep it');
  await pty.until('why not: keep it');
  await ui.press(KEY.enter);
  await ui.press(KEY.alt(1));
  await pty.until('keep it');
  await pty.until('Then:');
  await ui.press(KEY.alt(0));
  await pty.until('> halfy');
});
