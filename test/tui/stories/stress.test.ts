/** Proves that the UI stays whole where it is hard: 200 agents, 10,000 lines, small and changing screens, wide and hostile text. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const MANY = ['--limit', 'children=300', '--limit', 'live=300', '--limit', 'total=300'];

it('200 agents: the list opens, filters, scrolls and leads to each of them', async (test) => {
  const rules: ScriptedRules = {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'fork', input: { name: 'w{{index}}', prompt: 'work' }, repeat: 200 }],
      },
      { when: { root: true }, say: 'All begun.' },
      { say: '{{agent.name}} was here' },
    ],
  };
  const ui = await openUi(test, rules, { args: MANY });
  const { pty } = ui;
  await ui.say('go');
  await pty.until('All begun.');
  await ui.press(KEY.leader, 'a');
  await pty.until('Agents 201');
  await ui.press('/', 'w', '1', '9', '7');
  await pty.until('filter: w197');
  await ui.press(KEY.enter);
  await pty.until('w197 was here');
  await ui.press(KEY.leader, 'a');
  for (let page = 0; page < 25; page += 1) pty.send('\x1b[6~');
  await pty.until(
    () => pty.screen().some((line) => line.includes('▸') && line.includes('w199')),
    'the last row',
  );
  await ui.press(KEY.enter);
  await pty.until('w199 was here');
  // Slots are for the first nine, names for all.
  await ui.press(KEY.alt(9));
  await pty.until('[9 w8]');
  await ui.press(KEY.alt(0));
  await pty.until('[0 main]');
});

it('10,000 lines stand in the scrollback, each once, at 40×10 too', async (test) => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `row ${index}.`);
  const rules: ScriptedRules = {
    rules: [{ say: `\`\`\`\n${lines.join('\n')}\n\`\`\`\nThat was all.` }],
  };
  const ui = await openUi(test, rules, { columns: 40, rows: 10 });
  const { pty } = ui;
  await ui.say('tell me');
  await pty.until('That was all.');
  const seen = pty.history().flatMap((line) => /row (\d+)\./.exec(line)?.[1] ?? []);
  assert.deepEqual(
    seen.map(Number),
    lines.map((_, index) => index),
  );
  for (const clear of ['\x1b[2J', '\x1b[3J']) assert.ok(!pty.written().includes(clear), 'nothing is cleared');
  assert.ok(
    pty.screen().some((line) => line.startsWith('>')),
    'the input is there',
  );
});

it('a window that changes in the middle of streaming loses nothing; wide and hostile text does no harm', async (test) => {
  const hostile = 'evil \x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m \u202eright to left\u202c 漢字🎋';
  const rules: ScriptedRules = {
    rules: [
      {
        when: { root: true, step: 0 },
        say: `Begin ${'漢字 text '.repeat(60)} ${hostile} end of it.`,
        chunk_ms: 15,
        calls: [{ name: 'fork', input: { name: `na\x1b[2Jme 漢\u202e`, prompt: hostile } }],
      },
      { when: { root: true }, say: 'Main rests.' },
      { say: `child says ${hostile}` },
    ],
  };
  const ui = await openUi(test, rules, { columns: 80, rows: 24 });
  const { pty } = ui;
  await ui.say('go');
  await pty.until(() => pty.written().includes('Begin'), 'it streams');
  for (const [columns, rows] of [
    [60, 20],
    [100, 30],
    [40, 10],
    [80, 24],
  ] as const) {
    pty.resize(columns, rows);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await pty.until('Main rests.');
  assert.equal(pty.history().filter((line) => line.includes('end of it.')).length, 1);
  assert.ok(!pty.written().includes('\x1b]0;owned'), 'no foreign sequence reaches the terminal');
  assert.ok(!pty.written().includes('\u202e'));
  await ui.press(KEY.alt(1));
  await pty.until('child says');
  assert.ok(pty.screen().every((line) => !line.includes('\x1b')));
});

it('draws in ASCII without colour when plain', async (test) => {
  const rules: ScriptedRules = {
    rules: [
      { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'kid', prompt: 'go' } }] },
      { when: { root: true }, say: 'Main rests.' },
      { say: 'done' },
    ],
  };
  const plain = await openUi(test, rules, { args: ['--plain'] });
  await plain.say('go');
  await plain.pty.until('Main rests.');
  const shown = plain.pty.history().join('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: anything beyond ASCII is what is looked for
  assert.match(shown, /^[\x00-\x7f]*$/);
  const colour = new RegExp(`${String.fromCharCode(27)}\\[3\\dm`);
  assert.ok(!colour.test(plain.pty.written()), 'no colour');
});
