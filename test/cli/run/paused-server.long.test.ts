// Proves that a run which a server leads on while its provider takes no requests says by which command a person goes on, that the command works as it stands,
// and that its process waits for an answer that takes longer than a look.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { REFUSALS } from '../../runtime/quota/limited-server.ts';
import type { Fault } from '../../servers/brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import { makeHome } from '../run-cli.ts';
import { serving } from '../serving.ts';

afterEach(closeOpened);

it('names the command with the server, and goes on by it', { timeout: 120_000 }, async () => {
  const home = makeHome();
  let fault: Fault | null = REFUSALS.hour;
  const server = await startOpenAiChatServer({
    answer: () => (fault === null ? { text: 'late', delay_ms: 2_500 } : { fault }),
  });
  closeLater(() => server.close());
  home.configure({
    model: 'one/any',
    providers: { one: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
  });
  const { url, stop } = await serving(home);
  closeLater(stop);
  const paused = await home.start(['run', 'go', '--server', url]).ended;
  assert.equal(paused.code, 75, paused.stderr);
  const [, command = ''] = /you go on with: coppice (resume \w{8} --server \S+) \(/.exec(paused.stderr) ?? [];
  assert.notEqual(command, '', paused.stderr);
  fault = null;
  const resumed = await home.start([...command.split(' '), '--retry']).ended;
  assert.deepEqual([resumed.code, resumed.stdout], [0, 'late\n'], resumed.stderr);
});
