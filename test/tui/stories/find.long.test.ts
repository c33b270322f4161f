/** Proves that words are found in the scrollback of any agent, also where they are wrapped, in output that is folded, and far above; that keys go from hit to hit, round and round; and that a search answers no question. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

const CTRL_F = '\x06';
const ROWS = Array.from(
  { length: 90 },
  (_, index) => `- row ${index + 1} of ${index % 30 === 7 ? 'Treasure' : 'sand'}.`,
);
const WRAPPED = `${'word '.repeat(16)}hidden behind a break ${'more '.repeat(9)}`;

it('finds words, counts them, and goes from one to the next', async (test) => {
  const rules = {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [
          { name: 'bash', input: { command: 'seq 1 40; echo deep-inside' } },
          { name: 'fork', input: { name: 'writer', prompt: 'write' } },
        ],
      },
      { when: { agent: 'writer' }, say: ['treasure map', ...ROWS].join('\n') },
      { when: { root: true, step: 1 }, say: `${WRAPPED}\n\nall is done` },
      { say: 'Noted.' },
    ],
  };
  const ui = await openUi(test, rules, { columns: 80, rows: 24, args: ['--allow', 'bash'] });
  await ui.say('go');
  await ui.pty.until('Noted.');
  await ui.press('a draft', CTRL_F);
  await ui.pty.until('Enter keeps it');
  await ui.press('hidden behind a BREAK');
  await ui.pty.until('not found', 'capital letters count');
  await ui.press(...Array.from('BREAK', () => '\x7f'), 'break', KEY.enter);
  await ui.pty.until(() => ui.shows('1 of 1') && ui.shows('n older'), 'the only hit');
  await ui.press('/', 'deep-inside');
  await ui.pty.until(
    () => ui.shows('   1 of ') && ui.pty.written().includes('\x1b[7mdeep-inside\x1b[27m'),
    'the hit is inverted, in output that was folded',
  );
  await ui.press(KEY.escape, KEY.escape);
  await ui.pty.until('> a draft', 'the draft is kept');
  await ui.press(KEY.ctrl_c, KEY.alt(1));
  await ui.pty.until('row 90 of sand');
  await ui.say('/find treasure');
  await ui.pty.until(() => ui.shows('1 of 4') && ui.shows('row 68 of Treasure'), 'the newest');
  await ui.press('n');
  await ui.pty.until(() => ui.shows('2 of 4') && ui.shows('row 38 of Treasure'), 'the second');
  await ui.press('n', 'n');
  await ui.pty.until(() => ui.shows('4 of 4') && ui.shows('treasure map'), 'the first line');
  await ui.press('n');
  await ui.pty.until(() => ui.shows('1 of 4') && ui.shows('row 68 of Treasure'), 'round');
  await ui.press('N');
  await ui.pty.until('4 of 4', 'and back');
  await ui.press('/', 'Treasure', KEY.enter);
  await ui.pty.until('1 of 3');
  await ui.press('x');
  await ui.pty.until('> x', 'any other letter is text');
});

it('a letter that ends a search answers no question', async (test) => {
  const rules = { rules: [{ calls: [{ name: 'bash', input: { command: 'echo hi > made' } }] }] };
  const ui = await openUi(test, rules, { columns: 80, rows: 24 });
  await ui.say('go');
  await ui.pty.until('y once');
  await ui.press(CTRL_F, 'echo', KEY.enter);
  await ui.pty.until('n older');
  await new Promise((resolve) => setTimeout(resolve, 900));
  assert.ok(!ui.shows('y once'), 'the search has the room of the question');
  await ui.press('n', 'y');
  await ui.pty.until('> y');
  await new Promise((resolve) => setTimeout(resolve, 900));
  assert.equal((await ui.ledger((store) => store.asks({}))).length, 1);
});
