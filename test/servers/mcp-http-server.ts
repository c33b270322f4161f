import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { offerToPeople } from './mcp-offers.ts';
import type { OAuthServer } from './oauth-server.ts';

export interface HttpServer {
  readonly url: string;
  /** The Authorization header of each request. */
  readonly authorizations: (string | undefined)[];
  /** The protocol era of each handled request: that of newer or of older clients. */
  readonly eras: string[];
  close(): Promise<void>;
}

export interface Flood {
  /** The content type. */
  readonly type: string;
  readonly start?: string;
  /** Text that is repeated without end. */
  readonly again: string;
}

export interface HttpBehaviour {
  /** The Authorization header that every request must have. */
  readonly token?: string;
  /** Sent instead of an answer to a call. */
  readonly flood?: Flood;
  /** Handles logins; requests need a token that it issued. */
  readonly oauth?: OAuthServer;
}

/** Starts a server built with the protocol's own library, over HTTP. */
export async function startHttpServer({ token, oauth, flood }: HttpBehaviour = {}): Promise<HttpServer> {
  const [authorizations, eras]: [(string | undefined)[], string[]] = [[], []];
  const handler = createMcpHandler(({ era }) => {
    eras.push(era);
    const server = new McpServer({ name: 'by-http', version: '3.2.1' }, { instructions: 'Add in pairs.' });
    offerToPeople(server);
    server.registerTool(
      'add',
      { description: 'Adds', inputSchema: z.object({ a: z.number(), b: z.number() }) },
      ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      }),
    );
    server.registerTool(
      'hang',
      { description: 'Never answers', inputSchema: z.object({}) },
      () => new Promise<never>(() => undefined),
    );
    return server;
  });
  const http = createServer(async (request, response) => {
    authorizations.push(request.headers.authorization);
    if (token !== undefined && request.headers.authorization !== token) {
      response.writeHead(401).end();
      return;
    }
    const body = await bodyOf(request);
    if ((await oauth?.answer(request, response, body)) === true) return;
    if (flood !== undefined && body.includes('tools/call')) {
      response.writeHead(200, { 'content-type': flood.type });
      if (flood.start !== undefined) response.write(flood.start);
      const more = () => {
        while (response.write(flood.again));
        response.once('drain', more);
      };
      response.on('error', () => undefined);
      return more();
    }
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const asked = new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body === '' ? {} : { body }),
    });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    authorizations,
    eras,
    async close() {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}
