/**
 * Proves that many agents, long conversations and small or changing screens break nothing: the list opens, every line is printed once, no frame redraws
 * everything.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const many = (count: number, name: string): ScriptedRules['rules'][number] => ({
  when: { root: true, step: 0 },
  calls: [{ name: 'fork', input: { name, prompt: 'be' }, repeat: count }],
});
const CAP = ['total', 'children', 'live'].flatMap((limit) => ['--limit', `${limit}=500`]);

it('with two hundred agents, the list opens, filters and scrolls, slots stay, and leaving keeps the tree alive', async (test) => {
  const ui = await openUi(
    test,
    {
      rules: [
        many(200, 'worker-{{index}}'),
        { when: { root: true }, say: 'All forked.' },
        { say: '{{agent.name}} rests.' },
      ],
    },
    { args: CAP },
  );
  const { pty } = ui;
  await ui.say('go');
  await pty.until('All forked.');
  // One row stands for all forks of the step; then one of them is opened by its number.
  assert.equal(pty.history().filter((row) => row.startsWith('● fork')).length, 1);
  assert.ok(pty.history().some((row) => row.startsWith('● fork 200 agents · worker-0, worker-1, ')));
  await ui.say('/agent 120');
  await ui.inView('worker-119');
  await ui.press(KEY.alt(0), KEY.leader, 'a');
  await pty.until('Agents 201');
  await pty.until('1-28 of 201');
  await ui.press('\x1b[6~', '\x1b[6~', '\x1b[6~');
  await pty.until('worker-30');
  // What is pasted is text for the filter, not the key that kills.
  await ui.press('\x1b[200~k\x1b[201~');
  await pty.until('filter: k');
  await ui.press(KEY.escape);
  await ui.gone('filter: k');
  await ui.press(...'/worker-19');
  await pty.until('filter: worker-19');
  await pty.until(() => pty.screen().filter((line) => line.includes('worker-19')).length >= 11);
  await ui.press(...'9');
  await pty.until(() => !pty.screen().some((line) => line.includes('worker-198')));
  await ui.press(KEY.down, KEY.enter);
  await pty.until('worker-199]');
  await pty.until('worker-199 rests.');
  await ui.press(KEY.alt(9));
  await ui.inView('9 worker-8');
  await ui.press(KEY.ctrl_left);
  await ui.inView('8 worker-7');
  await ui.press(KEY.leader, 'k');
  await pty.until('Kill worker-7?');
  await ui.press(KEY.escape);
  await ui.gone('Kill worker-7?');
  await ui.press(KEY.alt(0));
  await ui.inView('0 main');
  await ui.say('/kill main');
  await pty.until('Kill main and 200 descendants (worker-0, worker-1, worker-2, +197 more)? All 201 stay');
  await ui.press('n');
  await ui.gone('Kill main');
  await ui.say('/kill idle');
  await pty.until('Kill 200 idle agents (worker-0, worker-1, worker-2, +197 more)?');
  assert.ok(!pty.written().includes('\x1b[3J'));
});

it('with thirty live rows, those that do not fit are counted, and each frame writes only what changed', async (test) => {
  const ui = await openUi(
    test,
    {
      rules: [
        many(30, 'worker-{{index}}'),
        {
          when: { root: true, tool: 'fork' },
          calls: [{ name: 'wait', input: { timeout: 600, from_agents: '{{results.fork.*.agent_id}}' } }],
        },
        { when: { root: true }, say: 'All in.' },
        {
          when: { step: 0 },
          say: 'Some words that come one by one, for a while. '.repeat(400),
          chunk_ms: 40,
        },
        { say: 'rests' },
      ],
    },
    { args: CAP, rows: 45 },
  );
  const { pty } = ui;
  await ui.say('go');
  await pty.until('wait 30 agents');
  await pty.until('30 at work');
  // Each row appears once, in order of birth, in a third of the screen.
  const names = pty.screen().flatMap((line) => /^ {2}◐ (worker-\d+) {2}/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    names,
    Array.from({ length: 12 }, (_, index) => `worker-${index}`),
  );
  const mark = pty.mark();
  const framesOf = (written: string) => written.split('\x1b[?2026h').length - 1;
  await pty.until(() => framesOf(pty.written(mark)) >= 3, 'it lives');
  const written = pty.written(mark);
  const frames = framesOf(written);
  assert.ok(!written.includes('\x1b[2J') && !written.includes('\x1b[3J'));
  const rules = written.split('─'.repeat(60)).length - 1;
  assert.ok(rules < frames, `${rules} rules in ${frames} frames: rows that stay are not written again`);
  pty.resize(80, 24);
  const named = () => /^ {2}◐ worker-\d+ .*\+\d+$/m.test(pty.screen().join('\n'));
  await pty.until(named);
  assert.ok(
    pty.screen().some((line) => line.startsWith('>')),
    'the input never goes',
  );
  pty.resize(40, 10);
  await pty.until(() => pty.screen().length === 10 && named());
  assert.ok(pty.screen().some((line) => line.startsWith('>')));
});

it('ten thousand lines are each printed once, in order', async (test) => {
  const lines = 10_000;
  const ui = await openUi(test, {
    rules: [
      {
        when: { user: 'long' },
        say: Array.from({ length: lines }, (_, index) => `- row ${index} of it`).join('\n'),
      },
      { say: 'short' },
    ],
  });
  const { pty } = ui;
  await ui.say('long');
  await pty.until(`row ${lines - 1} of it`);
  await pty.until(() => !ui.shows('interrupts'), 'the turn is over');
  const rows = pty.history().flatMap((line) => /row (\d+) of it/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    rows.map(Number),
    Array.from({ length: lines }, (_, index) => index),
  );
  await ui.say('more');
  await pty.until('short');
  assert.ok(!pty.written().includes('\x1b[3J') && !pty.written().includes('\x1b[2J'));
});

const soon = () => new Promise((resolve) => setTimeout(resolve, 15));
const WORDS = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`);
/** The terminal may break a line in the middle of a word. */
const dense = (lines: readonly string[]) => lines.join('').replaceAll(/\s/g, '');

it('a resize during streaming loses and duplicates nothing', async (test) => {
  const words = WORDS(90);
  const rules: ScriptedRules = { rules: [{ say: words.join(' '), chunk_ms: 40 }] };
  const ui = await openUi(test, rules, { columns: 80, rows: 24 });
  const { pty } = ui;
  await ui.say('go');
  for (const [wide, high, word] of [
    [60, 20, 'word15'],
    [45, 24, 'word30'],
    [100, 30, 'word45'],
    [80, 24, 'word60'],
  ] as const) {
    await pty.until(word);
    // Rows drawn for a size that has changed meanwhile may stay (docs/tui.md), so wait for the redraw.
    const drawn = pty.mark();
    pty.resize(wide, high);
    await pty.until(() => pty.written(drawn).includes('[0 main]'), `drawn with ${wide} columns`);
  }
  await pty.until('word89');
  await pty.until(() => !ui.shows('interrupts'), 'the turn is over');
  const history = pty.history();
  assert.equal(dense(history).split(words.join('')).length, 2, history.join('\n'));
  assert.equal(dense(history).split('word0word1word2').length, 2, history.join('\n'));
  assert.equal(history.filter((line) => line.includes('[0 main]')).length, 1, history.join('\n'));
});

it('on 40×10 the scrollback has the complete answer, however the window was resized meanwhile', async (test) => {
  const words = WORDS(150);
  const rules: ScriptedRules = { rules: [{ say: words.join(' '), chunk_ms: 25 }] };
  const ui = await openUi(test, rules, { columns: 40, rows: 10 });
  const { pty } = ui;
  await ui.say('go');
  for (const [wide, high, word] of [
    [33, 12, 'word40'],
    [100, 30, 'word80'],
    [40, 10, 'word110'],
  ] as const) {
    await pty.until(word);
    // Rows drawn for a size that has changed meanwhile may stay (docs/tui.md), so wait for the redraw.
    const drawn = pty.mark();
    pty.resize(wide, high);
    await pty.until(() => pty.written(drawn).includes('[0 main]'), `drawn with ${wide} columns`);
  }
  await pty.until('word149');
  await pty.until(() => !ui.shows('interrupts'), 'the turn is over');
  assert.equal(dense(pty.history()).split(words.join('')).length, 2, pty.history().join('\n'));
  assert.equal(pty.screen().filter((line) => line.includes('[0 main]')).length, 1);
  assert.ok(!pty.written().includes('\x1b[3J') && !pty.written().includes('\x1b[2J'));
});

it('an agent can be entered and left while the window is resized', async (test) => {
  const rules: ScriptedRules = {
    rules: [
      { when: { root: true, step: 0 }, calls: [{ name: 'fork', input: { name: 'kid', prompt: 'be' } }] },
      { when: { root: true, user: 'A message arrived' }, say: 'Main heard.' },
      { when: { root: true }, say: 'Main rests.' },
      { say: 'kid rests', delay_ms: 300 },
    ],
  };
  const ui = await openUi(test, rules);
  const { pty } = ui;
  await ui.say('go');
  await pty.until('Main rests.');
  await pty.until('Main heard.');
  // The previous tests cover drawing while the terminal changes its size; here the turn is over first.
  await pty.until(() => !ui.shows('interrupts'), 'the turn is over');
  for (const [columns, rows] of [
    [60, 20],
    [90, 28],
    [50, 15],
  ] as const) {
    pty.resize(columns, rows);
    // Long enough for the program to notice, shorter than its debounce for resizes.
    await soon();
    await ui.press(KEY.alt(1));
    await ui.inView('1 kid');
    pty.resize(columns + 10, rows + 2);
    await soon();
    await ui.press(KEY.alt(0));
    await ui.inView('0 main');
    await pty.until(() => !pty.alternate);
  }
  await ui.say('still here');
  await pty.until('> still here');
  await pty.until(() => pty.history().filter((line) => line === 'Main rests.').length === 2);
  assert.equal(pty.history().filter((line) => line === '> go').length, 1);
});
