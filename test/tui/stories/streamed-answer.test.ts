/** Proves that streamed text stays: finished blocks of an answer are in the scrollback while it continues, each once, whatever happens to the rest. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { Answerer } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import type { Pty } from '../terminal/pty.ts';
import { KEY, openUi, type UiStage } from './ui-stage.ts';

/** Lines that are separate Markdown blocks. */
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index} ends.`).join('\n\n');

/** The numbers of the lines in the scrollback and on the screen, in order. */
const numbers = (pty: Pty): number[] =>
  pty.history().flatMap((line) => {
    const number = /^line (\d+) ends\.$/.exec(line)?.[1];
    return number === undefined ? [] : [Number(number)];
  });

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

async function onServer(
  test: TestContext,
  answer: Answerer,
): Promise<{ ui: UiStage; asked: () => string[] }> {
  const server = await startOpenAiChatServer({ answer });
  test.after(() => server.close());
  const folder = temporaryFolder();
  const providers = { local: { type: 'openai-compatible', baseURL: server.url } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ providers }));
  const ui = await openUi(
    test,
    { rules: [{ say: 'no' }] },
    {
      args: ['--config', join(folder, 'config.json'), '--model', 'local/m'],
    },
  );
  return { ui, asked: () => server.exchanges.map(({ raw }) => raw) };
}

it('of 3,000 lines, interrupted at 2,000: 2,000 are in the scrollback, and the next request holds them', async (test) => {
  const { ui, asked } = await onServer(test, ({ index }) =>
    index === 0
      ? { text: lines(1, 3_000), reasoning: 'Counting.', pieces: 3_000, fault: { stall_after: 2_002 } }
      : { text: 'Going on.' },
  );
  const { pty } = ui;
  await ui.say('count');
  // Text that arrives in one piece is drawn over several frames; until then the screen shows only its end.
  const whole = (seen: number[]) => seen.every((number, index) => number === index + 1);
  await pty.until(() => {
    const seen = numbers(pty);
    return seen.length >= 2_000 && whole(seen);
  }, 'what has come stands there while the rest is awaited');
  const before = numbers(pty);
  await ui.press(KEY.escape);
  await pty.until(
    () => pty.history().some((line) => line.includes('interrupted by you')),
    'it is interrupted',
  );
  const after = numbers(pty);
  assert.ok(after.length >= before.length);
  assert.deepEqual(after, upTo(after.length), 'nothing twice, nothing lost');
  assert.equal(pty.history().filter((line) => line.includes('thought: Counting.')).length, 1);
  await ui.say('and now?');
  await pty.until('Going on.');
  const last = asked().at(-1) ?? '';
  assert.ok(last.includes(`line ${after.length} ends.`) && last.includes('line 1 ends.'));
});
