/** Proves in a real terminal that its background determines the colours, and that the configuration and NO_COLOR take precedence. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

const RULES = { rules: [{ say: 'See `code`.' }] };

/** Returns the foreground colour of the first cell of a text on the screen. */
function colourOf({ pty }: UiStage, text: string): string {
  const row = pty.screen().findIndex((line) => line.includes(text));
  const buffer = pty.terminal.buffer.active;
  const cell = buffer.getLine(buffer.baseY + row)?.getCell(pty.screen()[row]?.indexOf(text) ?? 0);
  if (cell === undefined) return 'nothing';
  if (cell.isFgRGB()) return `#${cell.getFgColor().toString(16).padStart(6, '0')}`;
  return cell.isFgPalette() ? String(cell.getFgColor()) : 'default';
}

it('light, then calm, then none', async (test) => {
  const light = await openUi(test, RULES, { background: 'rgb:ffff/ffff/ffff' });
  await light.say('hello');
  await light.pty.until('See code.');
  await light.pty.until(() => !light.shows('Esc interrupts'));
  assert.equal(colourOf(light, 'code'), '94');
  assert.equal(colourOf(light, '────'), '240');
  await light.press(KEY.ctrl_c, KEY.ctrl_c);
  await light.pty.ended;

  const folder = join(light.folder, 'coppice');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ tui: { theme: 'calm' } }));
  const env = { COLORTERM: 'truecolor' };
  const calm = await light.again(['--continue'], { env, background: 'rgb:1e1e/1e1e/1e1e' });
  await calm.pty.until('See code.');
  assert.equal(colourOf(calm, 'code'), '#d9c38f');
  await calm.press(KEY.ctrl_c, KEY.ctrl_c);
  await calm.pty.ended;

  const none = await light.again(['--continue'], {
    env: { NO_COLOR: '1' },
    background: 'rgb:ffff/ffff/ffff',
  });
  await none.pty.until('See code.');
  assert.equal(colourOf(none, 'code'), 'default');
  assert.ok(!/\p{Cc}\[[1-9][\d;]*m/u.test(none.pty.written()));
});
