// Proves that an answer which arrived while the process did not run (a laptop that slept, a process that was stopped) is read, although its idle timer is due first.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { getText } from '../../src/models/provider/http-fetch.ts';

const IDLE_MS = 5_000;
/** In a thread of its own: answers as soon as it is asked, and says so without the event loop of whoever asked. */
const SERVER = `
const { workerData: flag, parentPort } = require('node:worker_threads');
const told = (at) => () => { Atomics.store(flag, at, 1); Atomics.notify(flag, at); };
const server = require('node:http').createServer((request, response) => {
  told(0)();
  if (request.url === '/silent') return response.write('half', told(1));
  response.end('whole', told(1));
}).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Lets this thread stand still until the server has answered and the idle timer is long due. */
function sleepThrough(flag: Int32Array): void {
  Atomics.wait(flag, 1, 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.2 * IDLE_MS);
}

async function ask(path: string): Promise<string> {
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(SERVER, { eval: true, workerData: flag });
  const [port] = await once(worker, 'message');
  const { signal } = new AbortController();
  const answer = getText(`http://127.0.0.1:${port}${path}`, {}, { signal, idle_ms: IDLE_MS });
  const settled = answer.then(({ text }) => text, String);
  // The request is on its way before this thread stands still.
  await Atomics.waitAsync(flag, 0, 0).value;
  sleepThrough(flag);
  const said = await settled;
  await worker.terminate();
  return said;
}

it('an answer that was there before the timer came is read', async () => {
  assert.equal(await ask('/'), 'whole');
});

it('silence after what has arrived is silence still', async () => {
  assert.match(await ask('/silent'), /no answer from .* within 5 s/);
});
