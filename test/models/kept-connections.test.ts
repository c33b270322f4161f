// Proves that a request on a kept connection which its server closes in this moment is sent again at once, and one on a new connection is not.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, it } from 'node:test';
import { getText } from '../../src/models/provider/http-fetch.ts';
import { closeLater, closeOpened } from '../close-opened.ts';

afterEach(closeOpened);

/** A server that answers so many requests of each connection, and resets it at the next one. */
async function closingServer(answers: number) {
  const open: Socket[] = [];
  let asked = 0;
  const server = createServer((socket) => {
    open.push(socket);
    let left = answers;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      asked += 1;
      left -= 1;
      if (left < 0) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(async () => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const patience = { signal: new AbortController().signal, idle_ms: 60_000 };
  return { get: () => getText(url, {}, patience), connections: () => open.length, asked: () => asked };
}

it('a kept connection that is reset is replaced', async () => {
  const { get, connections, asked } = await closingServer(1);
  assert.equal((await get()).text, 'hello');
  assert.equal((await get()).text, 'hello');
  assert.deepEqual([connections(), asked()], [2, 3]);
});

it('a new connection that is reset is an error', async () => {
  const { get, connections } = await closingServer(0);
  await assert.rejects(get(), /ECONNRESET/);
  assert.equal(connections(), 1);
});
