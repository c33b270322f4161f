// Proves that the receiver in docs/webhooks.md, run exactly as printed, accepts real deliveries once each and rejects forged ones.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openWebhook } from '../../src/channels/webhook/webhook-channel.ts';
import { freePort } from '../free-port.ts';
import { newContext, newParcel } from './parcel-fixture.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET = 'whsec_c2VjcmV0IHNpZ25pbmcga2V5IG9mIDMyIGJ5dGVzISE=';

it('the receiver of the documentation works', async (test) => {
  const text = readFileSync(join(ROOT, 'docs', 'webhooks.md'), 'utf8');
  const code = /```js\n([\s\S]+?)```/.exec(text)?.[1];
  assert.ok(code !== undefined, 'the documentation holds a receiver');
  const port = await freePort();
  const receiver = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) },
  });
  test.after(() => receiver.kill('SIGKILL'));
  let said = '';
  receiver.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const url = `http://127.0.0.1:${port}/hook`;
  const channel = openWebhook({
    ops: { url, secret: SECRET },
    forged: { url, secret: 'another secret' },
  });
  const parcel = newParcel('ops', { text: 'hello receiver' });
  const deadline = performance.now() + 30_000;
  let result = await channel.deliver(parcel, newContext());
  // Deliveries fail until the receiver listens.
  while (result.type === 'retry' && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    result = await channel.deliver(parcel, newContext());
  }
  assert.deepEqual(result, { type: 'delivered' });
  assert.equal((await channel.deliver({ ...parcel, attempt: 2 }, newContext())).type, 'delivered');
  const forged = await channel.deliver(newParcel('forged', { text: 'not from you' }), newContext());
  assert.deepEqual(forged, { type: 'failed', error: 'the webhook "forged" answered 401' });
  assert.equal(
    (await channel.deliver(newParcel('ops', { text: 'the last' }), newContext())).type,
    'delivered',
  );
  receiver.kill();
  await once(receiver, 'close');
  assert.equal(said, 'hello receiver\nthe last\n');
  await channel.close();
});
