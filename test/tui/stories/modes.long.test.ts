/** Proves the other display modes: words instead of signs, ASCII, no colour, custom keys. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { KEY, openUi } from './ui-stage.ts';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, user: '^split', tool: 'fork' },
      calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
    },
    {
      when: { root: true, user: '^split', step: 0 },
      say: 'Split, **boldly**.',
      calls: ['slow', 'quick'].map((name) => ({ name: 'fork', input: { name, prompt: 'be' } })),
    },
    { when: { agent: 'slow', step: 0 }, say: 'slow is done', delay_ms: 600_000 },
    { say: '{{agent.name}} rests.' },
  ],
};

/** Returns the codes of all colour and style sequences except reset, bold and end of bold. */
const painted = (written: string): string[] =>
  written
    .split('\x1b')
    .flatMap((piece) => /^\[([\d;]*)m/.exec(piece)?.[1] ?? [])
    .filter((code) => !['', '0', '1', '22'].includes(code));
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const BOX = /[─│┌┐└┘━┆]/;

for (const [said, options] of [
  ['--accessible', { args: ['--accessible'] }],
  ['ACCESSIBLE=1', { env: { ACCESSIBLE: '1' } }],
] as const)
  it(`${said}: words, nothing that moves, changes are spoken one time`, async (test) => {
    const ui = await openUi(test, RULES, options);
    const { pty } = ui;
    await ui.say('split');
    await pty.until('slow: running: thinking');
    await pty.until('1 idle: quick');
    await pty.until('in view: 0 main');
    await pty.until('agents keep running');
    // The title of the window is the last that follows.
    await pty.until(() => pty.written().split('\x1b]2;').at(-1)?.includes('2 at work') === true);
    const mark = pty.mark();
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(pty.written(mark), '', 'a waiting screen is silent');
    await ui.press(KEY.leader, 'k');
    await pty.until('Kill main and 2 descendants');
    await ui.press(KEY.escape);
    await ui.gone('Kill main');
    await ui.say('/kill slow');
    await pty.until('Kill slow?');
    await ui.press('y', KEY.enter);
    await pty.until('slow: dead, killed by you');
    await pty.until('main rests.');
    assert.equal(pty.history().filter((line) => line === 'slow: dead, killed by you').length, 1);
    assert.doesNotMatch(pty.written(), SPINNER);
    assert.doesNotMatch(pty.written(), BOX);
  });

for (const [said, options] of [
  ['--plain', { args: ['--plain'] }],
  ['LANG=C and NO_COLOR', { env: { LANG: 'C', NO_COLOR: '1' } }],
] as const)
  it(`${said}: nothing but ASCII, no colour`, async (test) => {
    const ui = await openUi(test, RULES, options);
    const { pty } = ui;
    await ui.say('split');
    await pty.until(() => / slow +thinking/.test(pty.screen().join('\n')));
    await ui.press(KEY.leader, 'a');
    await pty.until('Agents 3');
    await ui.press(KEY.escape);
    await ui.gone('Agents 3');
    await ui.press(KEY.alt(2));
    await pty.until('quick rests.');
    await ui.press(KEY.leader, '?');
    await pty.until('type to filter');
    await ui.press(KEY.escape);
    await ui.gone('type to filter');
    await ui.say('/kill slow');
    await pty.until('Kill slow?');
    await ui.press('y', KEY.enter);
    await ui.press(KEY.alt(0));
    await pty.until('main rests.');
    assert.deepEqual(pty.written().match(/\P{ASCII}+/gu), null);
    assert.deepEqual(painted(pty.written()), []);
  });

it('NO_COLOR alone keeps Unicode signs', async (test) => {
  const ui = await openUi(test, RULES, { env: { NO_COLOR: '1' } });
  await ui.say('split');
  await ui.pty.until('◐ slow');
  assert.deepEqual(painted(ui.pty.written()), []);
});

it('configured keys replace the default ones, also the leader key, and are shown in the help', async (test) => {
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  writeFileSync(
    file,
    JSON.stringify({ keys: { leader: ['ctrl+g'], agents: ['f2', 'leader l'], child: ['f3'] } }),
  );
  const ui = await openUi(test, RULES, { args: ['--config', file] });
  const { pty } = ui;
  await ui.say('split');
  await pty.until('wait 2 agents');
  assert.ok(ui.shows('Ctrl-G l agents · Ctrl-G ? keys'));
  await ui.press('\x1bOQ');
  await pty.until('Agents 3', 'F2 opens the list');
  await ui.press(KEY.escape);
  await ui.gone('Agents 3');
  await ui.press('\x07', 'l');
  await pty.until('Agents 3');
  await ui.press(KEY.escape);
  await ui.gone('Agents 3');
  await ui.press('\x1bOR');
  await ui.inView('1 slow');
  await ui.press('\x07', '0');
  await ui.inView('0 main');
  await ui.press('\x07', '?');
  await pty.until('F2');
  assert.ok(!ui.shows('Ctrl-X'));
});
