/** Proves that a long answer is printed completely, line by line, while keys are still handled, and that leaving halfway loses nothing. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openUi } from './ui-stage.ts';

/** Takes more than a second to draw. */
const LINES = Array.from({ length: 6_000 }, (_, index) => `${index} ${'🎉'.repeat(40)}`);

it('a long answer is printed completely, even if the person leaves meanwhile', async (test) => {
  const ui = await openUi(test, { rules: [{ say: `${LINES.join('\n\n')}\n\nThe end of it.` }] });
  const { pty } = ui;
  await ui.say('go');
  await pty.until(() => pty.history().some((line) => line.startsWith('100 🎉')), 'the beginning is printed');
  pty.send('/quit\r');
  assert.equal((await pty.ended).exitCode, 0);
  const numbers = pty.history().flatMap((line) => /^(\d+) 🎉/.exec(line)?.[1] ?? []);
  assert.deepEqual(
    numbers,
    LINES.map((_, index) => `${index}`),
  );
  assert.ok(pty.history().includes('The end of it.'));
});
