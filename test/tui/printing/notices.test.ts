/** Proves that the first lines wait until their colours are known, and that lines printed meanwhile do not overtake them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Notices } from '../../../src/tui/printing/notices.ts';
import type { Screen } from '../../../src/tui/terminal/screen.ts';
import { themeOf } from '../../../src/tui/text/themes.ts';
import { ASCII, COLOUR } from '../ui-fixture.ts';

it('the first lines have the colours that are known when they are let go, in the order in which they came', () => {
  const printed: string[] = [];
  const screen = { columns: 80, print: (lines: readonly string[]) => void printed.push(...lines) };
  const style = { ...COLOUR, theme: themeOf('auto', null, 24) };
  const notices = new Notices({ screen: screen as unknown as Screen, style }, ['hello']);
  notices.print('it failed', 'red');
  assert.deepEqual([printed, notices.held], [[], true]);
  style.theme = themeOf('auto', 'light', 24);
  notices.release();
  notices.print('later', 'dim');
  const begins = ['\x1b[38;2;88;88;88mhello', '\x1b[38;2;175;0;0mit failed', '\x1b[38;2;88;88;88mlater'];
  assert.equal(printed.length, begins.length);
  for (const [index, line] of printed.entries()) assert.ok(line.startsWith(begins[index] ?? ''), line);
  assert.ok(!notices.held);
});

it('notices are of ASCII where the terminal shows nothing else, at the width of what is shown', () => {
  const printed: string[] = [];
  const screen = { columns: 41, print: (lines: readonly string[]) => void printed.push(...lines) };
  const notices = new Notices({ screen: screen as unknown as Screen, style: ASCII }, []);
  notices.release();
  notices.print('Usage: /kill [idle|AGENT…] of “the shop” · twenty', 'dim');
  assert.deepEqual(printed, ['Usage: /kill [idle|AGENT...] of "the', 'shop" | twenty']);
});
