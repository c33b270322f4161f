// Proves that `coppice run` fails, with matching text, exit code and JSON, when the model refuses, is cut off, or says nothing.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startAnthropicServer } from '../../servers/anthropic-server.ts';
import type { Answer } from '../../servers/brain.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { type Home, makeHome } from '../run-cli.ts';

let home: Home;
let server: ProtocolServer;
/** Successive answers of the server; the last one repeats. */
let said: readonly Answer[] = [];
let asked = 0;

before(async () => {
  home = makeHome();
  server = await startAnthropicServer({
    answer: () => {
      asked += 1;
      return said[Math.min(asked, said.length) - 1] as Answer;
    },
  });
  home.configure({
    model: 'local/claude',
    providers: { local: { type: 'anthropic', baseURL: `${server.url}/v1`, apiKeyEnv: 'KEY' } },
  });
});
after(async () => {
  await server.close();
});

async function run(...answers: readonly Answer[]) {
  said = answers;
  asked = 0;
  const { code, stdout, stderr } = await home.run(['run', 'hello', '--json'], {
    env: { KEY: 'key-of-a-test' },
  });
  const { status, reply, error } = JSON.parse(stdout) as Record<string, unknown>;
  return { code, status, reply, error: error as { code: string; message: string } | null, stderr, asked };
}

it('a model that declines: exit 1, failed, refused', async () => {
  const { code, status, error } = await run({ text: '', finish: 'refused' });
  assert.deepEqual(
    [code, status, error?.code, error?.message],
    [1, 'failed', 'refused', 'the model declined to answer'],
  );
});

it('an answer of nothing but reasoning is asked about once, without it, and then is a failure', async () => {
  const result = await run({ reasoning: 'hm' });
  assert.deepEqual([result.code, result.status, result.error?.code, result.asked], [1, 'failed', 'empty', 2]);
  assert.equal(server.exchanges.at(-1)?.refused, null);
});

it('a cut answer is continued once: whole then, or a failure that keeps its text', async () => {
  const whole = await run({ text: 'one, tw', finish: 'length' }, { text: 'o, three' });
  assert.deepEqual([whole.code, whole.status, whole.reply], [0, 'done', 'one, two, three']);
  const cut = await run({ text: 'on and on ', finish: 'length' });
  assert.deepEqual(
    [cut.code, cut.status, cut.reply, cut.error?.code],
    [1, 'failed', 'on and on on and on ', 'cut'],
  );
  said = [{ text: 'and over.' }];
  const retried = await home.run(['resume', '--retry'], { env: { KEY: 'key-of-a-test' } });
  assert.deepEqual([retried.code, retried.stdout], [0, 'on and on on and on and over.\n'], retried.stderr);
});
