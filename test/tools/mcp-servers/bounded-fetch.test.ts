// Proves what of an address of an MCP server is passed on: messages over several lines of data, what a refusal says whatever it calls itself, and no flood of empty events.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { fetchWithBounds } from '../../../src/tools/mcp-servers/wire/bounded-fetch.ts';
import { LimitExceeded } from '../../../src/tools/mcp-servers/wire/flood-watch.ts';
import { LenientAnswers } from '../../../src/tools/mcp-servers/wire/lenient-answers.ts';

/** Asks a server that answers like this; `said`: how it exceeded the limits. */
async function asked(
  answer: (response: ServerResponse) => void,
  use: (response: Response, said: readonly string[]) => Promise<void>,
): Promise<void> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const said: string[] = [];
    const bounded = fetchWithBounds((why) => said.push(why), new LenientAnswers());
    await use(await bounded(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), said);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const EVENTS = { 'content-type': 'text/event-stream' };

it('a message over several lines of data is one, and keeps the id and the name of its event', () =>
  asked(
    (response) =>
      response
        .writeHead(200, EVENTS)
        .end('id: 7\nevent: message\nretry: 20\ndata: {"method":\ndata: "ping"}\n\n: nothing\n\n'),
    async (response) => {
      const text = await response.text();
      assert.equal(text, 'retry: 20\n\nid: 7\nevent: message\ndata: {"method":"ping"}\n\n');
    },
  ));

it('an event without data, which only names a place to go on from, is passed on', () =>
  asked(
    (response) => response.writeHead(200, EVENTS).end('id: 8\ndata:\n\n'),
    async (response) => assert.equal(await response.text(), 'id: 8\ndata: \n\n'),
  ));

it('what a refusal says is passed on, also if it calls itself a stream of events', () =>
  asked(
    (response) => response.writeHead(400, EVENTS).end('{"error":"no session"}'),
    async (response) => assert.equal(await response.text(), '{"error":"no session"}'),
  ));

for (const [what, line] of [
  ['LF', '\n'],
  ['CR', '\r'],
  ['CR LF', '\r\n'],
] as const)
  it(`events without anything in them, in lines that end with ${what}, are a flood as others are`, () =>
    asked(
      (response) => {
        const more = () => {
          while (response.write(line.repeat(10_001)));
        };
        response.writeHead(200, EVENTS).on('drain', more);
        more();
      },
      async (response, said) => {
        await assert.rejects(response.text(), LimitExceeded);
        assert.deepEqual(said, ['it sent too many messages or too much data']);
      },
    ));
