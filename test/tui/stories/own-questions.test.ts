/**
 * Proves that words typed while the program asks the person to confirm a kill or leaving go to the draft and end nothing, and that its letters still
 * answer quickly.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import { until } from '../../until.ts';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: 'begin', step: 0 },
      calls: [{ name: 'fork', input: { name: 'slow', prompt: 'be' } }],
    },
    { when: { root: true }, say: 'Main heard: {{user}}' },
    { say: 'never', delay_ms: 600_000 },
  ],
};

const living = (ui: UiStage) => ui.ledger(async (store) => (await store.agents({ living: true })).length);

it('a word is a draft whatever its first letter; a letter with Enter, or alone, decides', async (test) => {
  const ui = await openUi(test, RULES);
  const { pty } = ui;
  const quiet = () => new Promise((resolve) => setTimeout(resolve, ALONE_MS + 200));
  await ui.say('begin');
  await pty.until('Main heard');
  for (const word of ['okay', 'kind', 'do', 'no']) {
    await ui.press(KEY.ctrl_c, KEY.ctrl_c);
    await pty.until('quit? 1 agent running');
    await ui.press(word);
    await pty.until(`> ${word}`);
    await ui.gone('quit?');
    await quiet();
    await ui.press(KEY.ctrl_c);
    await ui.gone(`> ${word}`);
  }
  for (const again of [1, 2, 3, 4]) {
    await ui.press(KEY.ctrl_c);
    if (again > 1) await pty.until('quit? 1 agent running');
  }
  await ui.press(KEY.escape);
  await ui.gone('quit?');
  await ui.press(KEY.leader, 'a');
  await pty.until('Enter open');
  await ui.press(KEY.ctrl_c);
  await ui.gone('Enter open');
  await ui.press('half', KEY.leader, 'k');
  await pty.until('Kill main and 1 descendant (slow)?');
  await ui.press('yes');
  await pty.until('> halfyes');
  await ui.press(KEY.leader, 'k');
  await pty.until('Kill main');
  pty.send('\x1b[200~y\x1b[201~');
  await pty.until('> halfyesy');
  await ui.press(KEY.leader, 'k');
  await pty.until('Kill main');
  await ui.press('n');
  await pty.until('[n] nothing ends in a moment');
  await ui.gone('in a moment');
  await pty.until('> halfyesy');
  await quiet();
  assert.equal(await living(ui), 2, 'nobody was ended');
  await ui.press(KEY.enter);
  await pty.until('Main heard: halfyesy');
  await ui.say('/kill slow');
  await pty.until('Kill slow?');
  await ui.press('y', KEY.enter);
  await ui.gone('Kill slow');
  await until(async () => (await living(ui)) === 1, 'slow has ended');
  assert.equal((await ui.ledger((store) => store.agents({}))).length, 2);
  assert.ok(!ui.shows('Main heard: y'), 'the answer is no message');
});
