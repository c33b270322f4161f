/** Proves the queue of approvals: requests of any descendant appear over any view, in order, take one answer each, and disappear when answered elsewhere. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

const bash = (...commands: string[]) => commands.map((command) => ({ name: 'bash', input: { command } }));

const GRANDCHILD: ScriptedRules = {
  rules: [
    { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'reader', prompt: 'be' } }] },
    { when: { root: true }, say: 'Main rests.' },
    {
      when: { agent: 'reader', step: 0 },
      calls: [{ name: 'fork', input: { name: 'grep-all', prompt: 'be' } }],
    },
    { when: { agent: 'reader' }, say: 'Reader rests.' },
    { when: { agent: 'grep-all', step: 0 }, delay_ms: 700, calls: bash('echo one > one.txt') },
    {
      when: { agent: 'grep-all', step: 1 },
      say: 'First: {{result}}',
      calls: bash('echo two > two.txt', 'echo three > three.txt'),
    },
    { when: { agent: 'grep-all', step: 2 }, say: 'Then: {{results.bash.1}} / {{results.bash.2}}' },
  ],
};

/** Waits until a letter typed alone counts as an answer. */
async function heard(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 100));
}

it('with a draft and a question of a grandchild, v visits it, Esc postpones it, the leader key reopens it, y and n answer in turn', async (test) => {
  const ui = await openUi(test, GRANDCHILD);
  const { pty } = ui;
  await ui.say('go');
  await ui.press('h', 'a', 'l', 'f');
  await pty.until('1 of 1 ─ main › reader › grep-all wants: bash');
  await pty.until('echo one > one.txt');
  await pty.until('> half');
  await heard();
  await ui.press(KEY.enter);
  assert.ok(ui.shows('wants: bash'), 'there is no default on Enter');
  await ui.press(KEY.escape);
  await ui.gone('wants: bash');
  await pty.until('> half');
  await pty.until('Ctrl-X ! answers 1');
  assert.ok(!existsSync(join(ui.folder, 'one.txt')), 'put off is not allowed');
  await ui.press(KEY.leader, '!');
  await pty.until('wants: bash');
  await ui.answer('v');
  await pty.until('grep-all]');
  assert.ok(pty.alternate);
  await pty.until('● bash echo one > one.txt');
  assert.ok(ui.shows('wants: bash'), 'it stands wherever the person goes');
  await ui.answer('y');
  await pty.until('First:');
  assert.ok(existsSync(join(ui.folder, 'one.txt')));

  await pty.until('│ echo two > two.txt');
  await ui.answer('n');
  await pty.until('│ echo three > three.txt');
  // A second press of the same keys, meant for the previous question, answers nothing.
  await ui.press(KEY.leader, 'n');
  await pty.until('has just come up');
  assert.ok(ui.shows('│ echo three > three.txt'));
  await ui.answer('y');
  await pty.until('Then:');
  await ui.gone('wants: bash');
  assert.ok(!existsSync(join(ui.folder, 'two.txt')) && existsSync(join(ui.folder, 'three.txt')));
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await pty.until('> half');
});

it('m denies with words, which Esc takes back; the question stays', async (test) => {
  const ui = await openUi(test, {
    rules: [
      { when: { step: 0 }, calls: bash('echo a > a.txt') },
      { when: { step: 1 }, say: 'It said: {{result}}', calls: bash('echo b > b.txt') },
      { when: { step: 2 }, say: 'Now: {{result}}', calls: bash('echo c > c.txt') },
      { say: 'All done.' },
    ],
  });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('echo a > a.txt');
  await pty.until('wants: bash');
  await heard();
  await ui.press('m');
  await pty.until('why not:');
  await ui.press(...'not hre', '\x7f', '\x7f', ...'ere');
  await pty.until('why not: not here');
  await ui.press(KEY.enter);
  await pty.until(/* the denial's reason reaches the model */ 'not here');
  await pty.until('echo b > b.txt');
  await heard();
  await ui.press('m');
  await pty.until('why not:');
  await ui.press('x', KEY.escape);
  await ui.gone('why not');
  await heard();
  assert.ok(ui.shows('wants: bash'), 'Esc takes back the words, not the question');
  await ui.press('y');
  await pty.until('echo c > c.txt');
  await ui.answer('y');
  await pty.until('All done.');
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => existsSync(join(ui.folder, `${name}.txt`))),
    [false, true, true],
  );
});

it('questions are answered first in, first out; one that is answered elsewhere gives way to the next', async (test) => {
  const ui = await openUi(test, {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [0, 1, 2].map((n) => ({ name: 'fork', input: { name: `asker-${n}`, prompt: 'be' } })),
      },
      { when: { root: true }, say: 'Main rests.' },
      ...[0, 1, 2].map((n) => ({
        when: { agent: `asker-${n}`, step: 0 },
        delay_ms: n * 400,
        calls: bash(`echo ${n} > ${n}.txt`),
      })),
      { say: '{{agent.name}} got {{result}}' },
    ],
  });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('1 of 3 ─ main › asker-0 wants: bash');
  const asks = await ui.ledger((store) => store.asks({ open: true }));
  const first = asks.find((ask) => ask.agent_name === 'asker-0');
  ui.coppice('approvals', 'allow', first?.id ?? '');
  await pty.until('1 of 2 ─ main › asker-1 wants: bash');
  await pty.until(() => existsSync(join(ui.folder, '0.txt')));
  await heard();
  await ui.press(KEY.escape);
  await ui.gone('wants: bash');
  await ui.say('/approvals');
  await pty.until('1 of 2 ─ main › asker-1 wants: bash');
  await ui.answer('y');
  await pty.until('1 of 1 ─ main › asker-2 wants: bash');
  await ui.say('');
  const third = (await ui.ledger((store) => store.asks({ open: true })))[0];
  ui.coppice('approvals', 'deny', third?.id ?? '', '--say', 'never');
  await ui.gone('wants: bash');
  await ui.say('/approvals');
  await pty.until('nothing waits for your answer');
  assert.deepEqual(
    [0, 1, 2].map((n) => existsSync(join(ui.folder, `${n}.txt`))),
    [true, true, false],
  );
});

it('the question of a killed agent disappears', async (test) => {
  const ui = await openUi(test, GRANDCHILD);
  const { pty } = ui;
  await ui.say('go');
  await pty.until('wants: bash');
  await heard();
  await ui.press(KEY.escape);
  await ui.gone('wants: bash');
  await ui.say('/kill reader');
  await pty.until('Kill reader and 1 descendant (grep-all)?');
  await ui.press('y');
  await ui.gone('answers 1');
  await ui.say('/approvals');
  await pty.until('nothing waits for your answer');
});
