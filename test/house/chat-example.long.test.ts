/**
 * Proves that `useChat` of the AI SDK, in a real browser, shows a tree of agents with the four routes of examples/chat and no other code: the answer as it
 * comes, the part of a child, the answer under way after a reload, and the history, also from the next process.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { closeLater, closeOpened } from '../close-opened.ts';
import { CHROMIUM, openPage } from '../serve/pages/browser.ts';
import { temporaryFolder } from '../temporary-folder.ts';

after(closeOpened);

const SERVER = join(import.meta.dirname, '..', '..', 'examples', 'chat', 'server.ts');
const ANSWER = 'An oak has lobed leaves, and acorns.';

/** Starts the example; resolves to its address and to what ends it, as a crash does. */
async function start(cwd: string, port = '0') {
  const child = spawn(process.execPath, ['--conditions=coppice-source', SERVER], {
    ...{ cwd, env: { ...process.env, PORT: port }, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  closeLater(end);
  const [line] = await once(child.stdout, 'data');
  return { url: String(line).trim(), end };
}

it('a chat in the browser shows a tree, and survives reloads and the server', {
  skip: CHROMIUM === null,
}, async () => {
  const cwd = temporaryFolder();
  const { url, end } = await start(cwd);
  const { browser, page, faults } = await openPage();
  closeLater(() => browser.close());
  await page.goto(url);
  const say = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const answer = page.getByRole('region', { name: 'assistant' });
  await say('What is an oak?');
  // The child is at work, and what the root has said stands there.
  await answer.getByText('botanist running').waitFor();
  await answer.getByText('I ask a botanist.').waitFor();
  await page.reload();
  await answer.getByText('botanist running').waitFor();
  assert.equal(await answer.count(), 1, 'the answer under way stands once');
  await answer.getByText(ANSWER).waitFor();
  await answer.getByText('botanist idle Oaks have lobed leaves, and acorns.').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  const shown = async () =>
    (await page.getByRole('region').allInnerTexts()).map((text) => text.split(/\s*\n\s*/).sort());
  const before = await shown();
  await page.reload();
  await answer.getByText(ANSWER).waitFor();
  assert.deepEqual(await shown(), before, 'the history says what the stream said');
  await end();
  await start(cwd, new URL(url).port);
  await page.reload();
  await answer.getByText(ANSWER).waitFor();
  assert.deepEqual(await shown(), before);
  await say('And now?');
  await answer.getByText('Ask me about oaks.').waitFor();
  assert.equal(await answer.count(), 2);
  assert.deepEqual(faults, []);
});
