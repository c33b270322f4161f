/** Proves that a question from an agent appears over whatever the person is doing, loses no typed key, and is answered only deliberately. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

const ASKING: ScriptedRules = {
  rules: [
    { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'child', prompt: 'ask' } }] },
    { when: { root: true }, say: 'Main rests. You said: {{user}}' },
    {
      when: { step: 0 },
      delay_ms: 1_000,
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

it('a sentence typed as a question comes up goes to the draft and answers nothing; leader keys work; a chord answers', async (test) => {
  const ui = await openUi(test, ASKING);
  const { pty } = ui;
  await ui.say('go');
  const sentence = 'this is then over, yes sir, no more, my very last word';
  // Types on until after the question has appeared.
  for (const [index, character] of [...sentence].entries()) {
    if (index === 20) await pty.until('main › child wants: bash');
    await ui.press(character);
  }
  await pty.until(`> ${sentence}`);
  pty.send('\x1b[200~y\x1b[201~');
  await pty.until(`> ${sentence}y`);
  await ui.press(KEY.leader, '1');
  await ui.inView('1 child');
  await ui.press(KEY.leader, 'a');
  await pty.until('Agents 2');
  await ui.press(KEY.escape);
  await ui.gone('Agents 2');
  await ui.press(KEY.leader, '0');
  await ui.inView('0 main');
  assert.equal((await ui.ledger((store) => store.asks({ open: true }))).length, 1, 'nothing was answered');
  await pty.until('Ctrl-X y answers');
  await ui.answer('y');
  await pty.until('rm made.txt');
  await pty.until(`> ${sentence}y`);
  await ui.press(KEY.enter);
  await pty.until(`You said: ${sentence}y`);
});

it('a single letter answers; one followed by another is text', async (test) => {
  const ui = await openUi(test, ASKING);
  const { pty } = ui;
  const alone = () => new Promise((resolve) => setTimeout(resolve, ALONE_MS + 100));
  await ui.say('go');
  await pty.until('main › child wants: bash');
  await alone();
  await ui.press('yes');
  await alone();
  await pty.until('> yes');
  assert.equal((await ui.ledger((store) => store.asks({ open: true }))).length, 1, 'yes is a word');
  await ui.press('\x7f', '\x7f', '\x7f');
  await alone();
  await ui.press('y');
  await pty.until('allows this once in a moment');
  await pty.until('rm made.txt');
  await ui.gone('> y');
  await alone();
  await ui.press('m');
  await pty.until('why not:');
  await ui.press('keep it');
  await pty.until('why not: keep it');
  await ui.press(KEY.enter);
  await ui.press(KEY.alt(1));
  await pty.until('keep it');
  await pty.until('Then:');
});

it('the whole of a long command is printed before it is answered', async (test) => {
  const command = `echo ${'x'.repeat(20_000)}; touch in-the-middle; echo ${'😀'.repeat(6_000)}`;
  const ui = await openUi(test, {
    rules: [{ when: { step: 0 }, calls: [{ name: 'bash', input: { command } }] }, { say: 'ok' }],
  });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('p prints all');
  assert.ok(!pty.screen().join('').includes('in-the-middle'));
  await ui.answer('p');
  await pty.until(() => pty.history().join('').includes('in-the-middle'));
  assert.equal((await ui.ledger((store) => store.asks({ open: true }))).length, 1, 'nothing was answered');
});

it('a difference longer than the screen is paged, and typing continues meanwhile', async (test) => {
  const file = Array.from({ length: 60 }, (_, index) => `line ${index} end\n`).join('');
  const edits = Array.from({ length: 30 }, (_, index) => ({
    old_text: `line ${index} end`,
    new_text: `LINE ${index} end`,
  }));
  const ui = await openUi(
    test,
    {
      rules: [
        {
          when: { step: 0 },
          calls: [
            { name: 'read', input: { path: 'long.txt' } },
            { name: 'patch', input: { path: 'long.txt', edits } },
          ],
        },
        { say: 'ok' },
      ],
    },
    { columns: 80, rows: 24 },
  );
  const { pty } = ui;
  writeFileSync(join(ui.folder, 'long.txt'), file);
  await ui.say('go');
  await pty.until('more lines: PgDn shows them');
  const seen = new Set<string>();
  const look = () => {
    for (const line of pty.screen())
      for (const [part] of line.matchAll(/[-+](line|LINE) \d+ end/g)) seen.add(part);
  };
  for (const first of [1, 17, 33, 49]) {
    await ui.press('\x1b[6~');
    await pty.until(`${first}-`);
    look();
  }
  assert.equal(seen.size, 60, 'every line was in sight');
  await ui.press('\x1b[5~', 'h', 'm');
  await pty.until('> hm');
  assert.equal((await ui.ledger((store) => store.asks({ open: true }))).length, 1, 'nothing was answered');
});
