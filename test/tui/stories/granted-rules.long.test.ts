/**
 * Proves the second step of an answer: the rule and its scope are shown before it is granted, can be edited, and answer waiting requests; typing grants
 * nothing.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { KEY, openUi } from './ui-stage.ts';

const bash = (command: string) => ({ name: 'bash', input: { command } });
const fork = (name: string) => ({ name: 'fork', input: { name, prompt: 'be' } });
const [RIGHT, LEFT] = ['\x1b[C', '\x1b[D'];

/** Waits until a letter typed alone counts as an answer. */
async function heard(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ALONE_MS + 100));
}

it('a rule for the tree answers all that it covers; one for good is written by hand, kept in a file, listed and removed', async (test) => {
  const ui = await openUi(test, {
    rules: [
      { when: { root: true, step: 0 }, calls: [fork('asker'), fork('other')] },
      { when: { root: true }, say: 'Main rests.' },
      { when: { agent: 'asker', step: 0 }, calls: [bash('git status')] },
      { when: { agent: 'asker', step: 1 }, calls: [bash('git log -1')] },
      { when: { agent: 'asker', step: 2 }, calls: [bash('bash run.sh')] },
      { when: { agent: 'other', step: 0 }, delay_ms: 300, calls: [bash('git status -s')] },
      { say: '{{agent.name}} is done' },
    ],
  });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('1 of 2 ─ main › asker wants: bash');
  await pty.until('s bash:git status * from now on…');

  // With a draft, only chords answer; anything else typed is text.
  await ui.press('yes');
  await ui.answer('s');
  await pty.until('│ allow from now on: bash:git status * ');
  await pty.until('[this agent]');
  await pty.until('only asker, until it ends');
  await ui.press(RIGHT);
  await pty.until('[this tree]');
  await pty.until('answers 1 more that waits');
  await ui.press('syy');
  await pty.until('the rule is open');
  assert.ok(ui.shows('[this tree]') && ui.shows('> yes'), 'text typed at speed changes nothing');
  assert.equal((await ui.ledger((store) => store.asks({ open: true }))).length, 2, 'and grant nothing');
  await ui.answer('y');
  await pty.until('1 of 1 ─ main › asker wants: bash');
  await pty.until('│ git log -1');
  const asks = await ui.ledger((store) => store.asks({}));
  const answered = asks.map(({ subject, scope, granted }) => [subject, scope, granted]);
  assert.deepEqual(answered.toSorted(), [
    ['git log -1', null, null],
    ['git status -s', 'once', null],
    ['git status', 'session', 'bash:git status *'],
  ]);

  // Without a draft, letters typed alone answer; Enter grants nothing.
  await ui.press(KEY.ctrl_c);
  await heard();
  await ui.press('s');
  await pty.until('allow from now on: bash:git log *');
  await ui.press(KEY.down);
  await pty.until('allow from now on: bash:git * ');
  await ui.press(LEFT, LEFT, LEFT);
  await pty.until('[for good]');
  await pty.until('rules.json');
  await heard();
  await ui.press(KEY.enter);
  await heard();
  await ui.press('e');
  await pty.until('rule: bash:git *_');
  await ui.press('\x7f', 'x');
  await pty.until('does not match this call');
  await ui.press(KEY.enter, '\x7f', ...'log -*', KEY.enter);
  await pty.until('allow from now on: bash:git log -*');
  const file = join(ui.folder, 'coppice', 'rules.json');
  assert.ok(!existsSync(file), 'nothing is granted yet');
  await heard();
  await ui.press('y');
  await pty.until('bash:git log -* is allowed from now on');
  const [kept] = JSON.parse(readFileSync(file, 'utf8')).rules;
  assert.deepEqual([kept.rule, kept.folder], ['bash:git log -*', ui.folder]);

  // A rule that would allow everything is not proposed.
  await pty.until('│ bash run.sh');
  await ui.answer('s');
  await pty.until('no rule is proposed: it is unclear what it runs');
  await ui.answer('y');
  await pty.until('no rule is chosen');
  await ui.press(KEY.escape);
  await ui.gone('no rule is proposed');
  await ui.answer('n');
  await ui.gone('wants: bash');

  await ui.say('/rules');
  await pty.until('/rules remove ID takes one back; for good: kept in');
  await ui.say(`/rules remove ${kept.id}`);
  await pty.until('removed bash:git log -*');
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).rules, []);
});
