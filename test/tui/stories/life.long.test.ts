/** Proves that leaving and returning loses nothing: quit, detach, hang-up, kill -9, a second process on the same ledger. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { until } from '../../until.ts';
import { KEY, openUi } from './ui-stage.ts';

const rules = (slow_ms: number): ScriptedRules => ({
  rules: [
    {
      when: { root: true, user: 'start', step: 0 },
      say: 'Two begin.',
      calls: ['quick', 'slow'].map((name) => ({ name: 'fork', input: { name, prompt: `be ${name}` } })),
    },
    { when: { root: true, user: 'from elsewhere' }, say: 'Heard from elsewhere.' },
    { when: { root: true }, say: 'Main rests.' },
    { when: { agent: 'slow', step: 0 }, say: 'slow is done', delay_ms: slow_ms },
    { say: '{{agent.name}} is done' },
  ],
});
const RULES = rules(4_000);

it('asks before leaving running agents; detached ones continue; everything is there when it is opened again', async (test) => {
  // One is at work until it is detached, however long the keys before that take.
  const ui = await openUi(test, rules(600_000));
  await ui.say('start');
  const screen = () => ui.pty.screen().join('\n');
  await ui.pty.until(
    () => /quick is done[\s\S]*Main rests\.[\s\S]* 1◐ at work/.test(screen()),
    'only slow is at work',
  );
  await ui.press(KEY.ctrl_c, KEY.ctrl_c);
  await ui.pty.until('quit? 1 agent running');
  await ui.press('n');
  await ui.pty.until(() => !ui.pty.screen().some((line) => line.includes('quit?')), 'it stays');
  await ui.press(KEY.leader, 'q');
  await ui.pty.until('quit? 1 agent running');
  // Read by the process that leads it from now on.
  writeFileSync(join(ui.folder, 'rules.json'), JSON.stringify(rules(0)));
  await ui.press('d');
  assert.equal((await ui.pty.ended).exitCode, 0);
  assert.ok(!ui.pty.modeOn(1049) && ui.pty.modeOn(25) && !ui.pty.modeOn(2004), 'the terminal is as it was');
  await until(
    () => ui.ledger(async (store) => (await store.agents({})).every((agent) => agent.state.type === 'idle')),
    'the detached agents end',
  );
  const back = await ui.again();
  await back.pty.until('Main rests.');
  await back.press(KEY.alt(2));
  await back.pty.until('slow is done');
  await back.pty.until('[2 slow]');
});

it('a killed program loses nothing: its agents continue when it is opened again', async (test) => {
  const ui = await openUi(test, RULES);
  await ui.say('start');
  await ui.pty.until('Main rests.');
  ui.pty.kill('SIGKILL');
  await ui.pty.ended;
  const back = await ui.again();
  await back.pty.until('Main rests.');
  await back.press(KEY.alt(2));
  await back.pty.until('slow is done');
});

it('a hang-up restores the terminal and ends the program', async (test) => {
  const ui = await openUi(test, RULES);
  await ui.say('start');
  await ui.pty.until('Main rests.');
  await ui.press(KEY.alt(1));
  await ui.pty.until('[1 quick]');
  ui.pty.kill('SIGHUP');
  await ui.pty.ended;
  assert.ok(!ui.pty.modeOn(1049) && ui.pty.modeOn(25) && !ui.pty.modeOn(2004));
});

it('shows commands of another process at once; a second UI shows and controls the same agents', async (test) => {
  const ui = await openUi(test, rules(600_000));
  await ui.say('start');
  await ui.pty.until('Main rests.');
  ui.coppice('send', 'main', 'from elsewhere');
  await ui.pty.until('Heard from elsewhere.');
  const second = await ui.again();
  await second.pty.until('Heard from elsewhere.');
  await second.say('/kill slow');
  await second.pty.until('Kill slow?');
  await second.press('y', KEY.enter);
  // A view of an agent moves to its parent when the agent is killed; so the kill must be known here before the visit.
  await ui.pty.until(() => !ui.pty.screen().some((line) => line.includes('◐')), 'nobody is at work');
  await ui.press(KEY.alt(2));
  await ui.pty.until('kill event');
});
