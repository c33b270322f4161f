// Proves that an aborted request is not sent, that an ended one leaves nothing on its signal, and that silence after a sleep of the machine ends a request.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { getText } from '../../src/models/provider/http-fetch.ts';

it('what was aborted before is not sent, and what has ended no longer listens to its signal', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/broken') return response.destroy();
    response.end('text');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  for (const _ of 'ab') assert.equal((await getText(url, {}, { signal, idle_ms: 60_000 })).text, 'text');
  await assert.rejects(getText(`${url}/broken`, {}, { signal, idle_ms: 60_000 }), { reason: 'connect' });
  // It is sent again where it took a kept connection.
  const sent = asked;
  assert.ok(sent === 3 || sent === 4, String(sent));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  const reason = new Error('enough');
  await assert.rejects(getText(url, {}, { signal: AbortSignal.abort(reason), idle_ms: 60_000 }), reason);
  assert.equal(asked, sent);
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

/** In a thread of its own: answers half, and says so without the event loop of whoever asked. */
const SERVER = `
const { workerData: flag, parentPort } = require('node:worker_threads');
const told = (at) => () => { Atomics.store(flag, at, 1); Atomics.notify(flag, at); };
const server = require('node:http').createServer((request, response) => {
  told(0)();
  response.write('half', told(1));
}).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

it('silence after what came while the process did not run is silence still', async () => {
  const idle_ms = 200;
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(SERVER, { eval: true, workerData: flag });
  const [port] = await once(worker, 'message');
  const { signal } = new AbortController();
  const answer = getText(`http://127.0.0.1:${port}`, {}, { signal, idle_ms });
  const silent = assert.rejects(answer, { reason: 'idle' });
  await Atomics.waitAsync(flag, 0, 0).value;
  // This thread stands still until its idle timer is due, and half of the answer has come.
  Atomics.wait(flag, 1, 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * idle_ms);
  await silent;
  await worker.terminate();
});
