/** Proves that the end of a long answer stays in view, that the wheel scrolls an agent's full screen, and that the terminal keeps the mouse everywhere else. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KEY, openUi } from './ui-stage.ts';

const WHEEL_UP = '\u001b[<64;10;10M';
const WHEEL_DOWN = '\u001b[<65;10;10M';
const CLICK = '\u001b[<0;10;10M\u001b[<0;10;10m';

it('a long answer ends above the input; the wheel scrolls the full screen of an agent, and is on only there', async (test) => {
  const text = Array.from({ length: 60 }, (_, index) => `- row ${index + 1}.`).join('\n');
  const rules = {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'fork', input: { name: 'writer', prompt: 'write' } }],
      },
      { when: { agent: 'writer' }, say: text },
      { say: Array.from({ length: 80 }, (_, index) => `line ${index}`).join('\n\n'), chunk_ms: 5 },
    ],
  };
  const ui = await openUi(test, rules, { columns: 80, rows: 24 });
  await ui.say('go');
  // One look at one screen: the report of the writer may begin another answer right after this one.
  const rows = () => ui.pty.screen().filter((line) => line.startsWith('line '));
  const isOver = () => !ui.shows('thinking') && ui.shows('line 79');
  await ui.pty.until(() => isOver() && rows().length >= 8, 'it is over, and its end is in view');
  assert.ok(!ui.pty.modeOn(1000));
  await ui.press(KEY.alt(1));
  // The report of the writer, which the main conversation shows, may have these words, too.
  await ui.pty.until(() => ui.pty.modeOn(1000) && ui.pty.modeOn(1006), 'the wheel is taken');
  await ui.pty.until(() => ui.shows('row 60.') && !ui.shows('row 30.'), 'the end of the answer is in view');
  await ui.press(`${WHEEL_UP.repeat(8)}${CLICK}`);
  await ui.pty.until(() => ui.shows('row 30.') && !ui.shows('row 60.'), 'scrolled up');
  await ui.press(WHEEL_DOWN.repeat(9), 'typed');
  await ui.pty.until(
    () => ui.shows('row 60.') && ui.shows('> typed'),
    'scrolled down; the draft holds only what was typed',
  );
  await ui.press(KEY.alt(0));
  await ui.pty.until('line 79');
  await ui.pty.until(() => !ui.pty.modeOn(1000) && !ui.pty.modeOn(1006), 'the mouse is given back');
});
