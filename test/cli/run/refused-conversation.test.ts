// Proves the way out of a conversation that its provider refuses, as a user takes it: the error names the message and the commands, and they work.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startAnthropicServer } from '../../servers/anthropic-server.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { type Home, makeHome } from '../run-cli.ts';

let home: Home;
let server: ProtocolServer;
/** Makes one call with an id in its own format, then refuses everything. */
let other: ProtocolServer;
const env = { KEY: 'key-of-a-test' };

before(async () => {
  home = makeHome();
  server = await startAnthropicServer({
    answer: ({ raw, messages }) => {
      if (raw.includes('unauthorised')) return { fault: { status: 401, message: 'invalid x-api-key' } };
      if (raw.includes('poison'))
        return { fault: { status: 400, message: 'messages.0.content.0.text: I will not take this' } };
      return { text: `${messages.at(-1)?.text} taken` };
    },
  });
  other = await startOpenAiChatServer({
    answer: ({ messages }) =>
      messages.length === 1
        ? { calls: [{ id: 'functions.bash:0', name: 'bash', input: { command: 'echo hi' } }] }
        : { fault: { status: 400, message: 'no' } },
  });
  home.configure({
    model: 'local/claude',
    providers: {
      other: { type: 'openai-compatible', baseURL: `${other.url}/v1` },
      local: { type: 'anthropic', baseURL: `${server.url}/v1`, apiKeyEnv: 'KEY' },
    },
  });
});
after(async () => {
  await server.close();
  await other.close();
});

it('names the message and the way out; without it the conversation goes on', async () => {
  const { code, stdout, stderr } = await home.run(['run', 'some poison'], { env });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /400: messages\.0.* \(it is about the message "some poison"\)\n/);
  const id = /coppice resume ([0-9a-f]{8}) --without-last/.exec(stderr)?.[1] ?? '';
  assert.match(stderr, new RegExp(`Or with another model: coppice resume ${id} --model PROVIDER/MODEL`));
  assert.equal((await home.run(['resume', id, '--retry'], { env })).code, 1);
  assert.equal((await home.run(['resume', id, '--without-last'], { env })).code, 0);
  await home.run(['send', id, 'good day'], { env });
  const resumed = await home.run(['resume', id], { env });
  assert.deepEqual([resumed.code, resumed.stdout], [0, 'good day taken\n']);
  const log = await home.run(['logs', id], { env });
  assert.match(log.stdout, /some poison/);
  assert.match(log.stdout, /left out of what the model is sent: the message "some poison"/);
});

it('a refused key names its variable and what to do', async () => {
  const { code, stderr } = await home.run(['run', 'unauthorised'], { env });
  assert.equal(code, 4);
  assert.match(
    stderr,
    /401: invalid x-api-key \(the key comes from KEY\)\n {2}Check the key \(coppice doctor/,
  );
});

it('another model takes the conversation over, calls of the first one included', async () => {
  const { code, stderr } = await home.run(['run', 'begin', '--model', 'other/m', '--allow', 'bash'], { env });
  assert.equal(code, 1);
  const id = /coppice resume ([0-9a-f]{8}) --without-last/.exec(stderr)?.[1] ?? '';
  const wrong = await home.run(['resume', id, '--model', 'lokal/claude'], { env });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /no provider called "lokal"[\s\S]*Did you mean local/);
  const resumed = await home.run(['resume', id, '--model', 'local/claude'], { env });
  assert.deepEqual([resumed.code, server.exchanges.at(-1)?.refused], [0, null]);
  assert.match(resumed.stdout, / taken$/m);
  const { agents } = JSON.parse((await home.run(['ps', '--all', '--json'], { env })).stdout);
  const models = agents.map((agent: { model: string }) => agent.model);
  assert.equal(models.includes('other/m'), false);
});
