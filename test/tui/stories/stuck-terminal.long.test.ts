/** Proves that agents go on while the terminal takes nothing (Ctrl-S, a connection that is stuck), and that then everything is printed, once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { openUi } from './ui-stage.ts';

/** More than a terminal keeps for a program that reads slowly. */
const STEPS = 30;
const LINES = 100;
const numbered = (step: number) =>
  Array.from({ length: LINES }, (_, line) => `${step}-${line} ${'word '.repeat(15)}`).join('\n\n');

it('agents go on while the terminal is stuck, and afterwards nothing is missing', async (test) => {
  const steps = Array.from({ length: STEPS }, (_, step) => ({
    when: { step },
    delay_ms: 100,
    say: numbered(step),
    calls: [{ name: 'think', input: { thought: 'on' } }],
  }));
  const ui = await openUi(test, { rules: [...steps, { say: 'The end.' }] });
  const { pty } = ui;
  pty.take(false);
  pty.send('go\r');
  await until(async () => {
    const [root] = await ui.ledger((store) => store.agents({}));
    return root?.reply === 'The end.';
  }, 'the end, although nobody can see it');
  pty.take(true);
  await pty.until('The end.');
  const shown = pty.history().flatMap((line) => /^(\d+-\d+) word/.exec(line)?.[1] ?? []);
  const all = steps.flatMap((_, step) => Array.from({ length: LINES }, (__, line) => `${step}-${line}`));
  assert.deepEqual(shown, all);
  await ui.press('n', 'o', 'w');
  await pty.until('> now');
});
