// Proves that whatever a client has under way ends when its token is replaced, in another process: streams, waits, calls over MCP and uploads; that nothing
// which happens afterwards reaches it, and that others are not disturbed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, it } from 'node:test';
import { Access } from '../../../src/serve/http/access.ts';
import { until } from '../../until.ts';
import { followNew } from '../stream/event-stage.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

let web: WebStage;
afterEach(async () => {
  await web.close();
  assert.deepEqual(web.troubles, []);
});

/** Sends the beginning of a request; collects what comes back. */
async function begin(method: string, path: string, body: string, bytes = Buffer.byteLength(body)) {
  const { hostname, port } = new URL(web.url);
  const socket: Socket = connect(Number(port), hostname);
  const open = { socket, text: '', has_ended: false };
  socket
    .setEncoding('utf8')
    .on('data', (piece: string) => {
      open.text += piece;
    })
    .on('error', () => undefined)
    .on('close', () => {
      open.has_ended = true;
    });
  await once(socket, 'connect');
  const headers = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${web.host}`,
    `Authorization: Bearer ${web.token('write')}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${bytes}`,
  ];
  socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
  return open;
}

const rotate = (scope: 'read' | 'write') => new Access(web.folder).rotate(scope);

it('an event stream gets nothing that happens after the rotation, and ends; the new token gets it', async () => {
  web = await setWebStage(({ user }) => `${user} is done`);
  const streams = [await followNew(web), await followNew(web, '?brief=true')];
  const before = await web.stage.start('told to both');
  await web.stage.runtime.settled(before.id);
  await until(() => streams[0]?.of('tree').some(({ tree }) => tree?.need === 'done') === true, 'the first');
  rotate('read');
  const later = await followNew(web);
  const root = await web.stage.start('for the new one');
  await until(() => later.of('tree').some(({ tree }) => tree?.root_id === root.id), 'the second');
  await until(() => streams.every((one) => one.has_ended), 'they end');
  for (const { events } of streams) assert.doesNotMatch(JSON.stringify(events), new RegExp(root.id));
  assert.equal(later.has_ended, false);
});

it('an idle stream ends, without waiting for something to send', async () => {
  web = await setWebStage(() => 'unused');
  const stream = await followNew(web);
  const { length } = stream.events;
  rotate('read');
  await until(() => stream.has_ended, 'it ends');
  assert.equal(stream.events.length, length);
});

it('a wait, a call over MCP, and a body that drips end, and answer nothing', async () => {
  let release: (text: string) => void = () => undefined;
  const held = new Promise<string>((resolve) => {
    release = resolve;
  });
  web = await setWebStage(() => held);
  const { id } = await web.stage.start('slow');
  const wait = await begin('POST', '/v1/wait', JSON.stringify({ agents: [id], timeout_seconds: 60 }));
  const call = { name: 'start_tree', arguments: { prompt: 'slow' } };
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
  const mcp = await begin('POST', '/mcp/prober', JSON.stringify(rpc));
  const drip = await begin('POST', '/v1/trees', '{', 1_000);
  const dripping = setInterval(() => drip.socket.write(' '), 50);
  await until(async () => (await web.stage.store.agents({})).length === 2, 'the call began');
  rotate('write');
  await until(() => [wait, mcp, drip].every(({ has_ended }) => has_ended), 'all end');
  clearInterval(dripping);
  release('SECRET');
  await web.stage.runtime.settled(id);
  for (const { text } of [wait, mcp, drip])
    assert.doesNotMatch(text, /SECRET|"result"|schema":"coppice\/wait/);
  assert.equal((await web.ask('/v1/session')).status, 200);
});

it('a request whose body comes to its end after the rotation does nothing', async () => {
  web = await setWebStage(() => 'unused');
  const call = { name: 'start_tree', arguments: { prompt: 'over MCP' } };
  const bodies = [
    ['/v1/trees', JSON.stringify({ prompt: 'over HTTP' })],
    ['/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })],
  ] as const;
  const open = await Promise.all(
    bodies.map(async ([path, body]) => {
      const one = await begin('POST', path, body.slice(0, -1), Buffer.byteLength(body));
      return { ...one, one, last: body.slice(-1) };
    }),
  );
  // Asked later over other connections, so that these two were admitted before.
  for (let times = 0; times < 3; times += 1) await web.ask('/v1/session');
  rotate('write');
  for (const { socket, last } of open) socket.write(last);
  await until(() => open.every(({ one }) => one.text.includes('401 Unauthorized')), 'they are refused');
  for (const { socket } of open) socket.destroy();
  assert.deepEqual(await web.stage.store.agents({}), []);
});
