/** An MCP server over HTTP that answers with exactly what a test gives, and the part of Coppice that uses it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater } from '../close-opened.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Asked {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { readonly cursor?: string; readonly arguments?: object };
}

/** What a server answers to one message: a result, or whatever it writes itself. */
export type Answer = (asked: Asked, request: IncomingMessage, response: ServerResponse) => unknown;

export const WRITTEN = Symbol('written by the test itself');
export const OBJECT = { type: 'object', properties: { a: { type: 'string' } } };

export const GREETING = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
};

interface Options {
  /** Whether `answer` gives the greeting, too. */
  readonly greets?: boolean;
  /** Whether results come as events. */
  readonly events?: boolean;
}

/** Starts a server and returns its address. */
export async function rawAddress(
  answer: Answer,
  { greets = false, events = false }: Options = {},
): Promise<string> {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
      const usual = asked.method === 'initialize' && !greets ? GREETING : undefined;
      const result = usual ?? answer(asked, request, response);
      if (result === WRITTEN) return;
      if (asked.id === undefined) return void response.writeHead(202).end();
      const text = JSON.stringify({ jsonrpc: '2.0', id: asked.id, result });
      response.writeHead(200, { 'content-type': events ? 'text/event-stream' : 'application/json' });
      response.end(events ? `event: message\ndata: ${text}\n\n` : text);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closeLater(async () => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

/** Starts a server, and the part of Coppice that uses it. */
export async function rawServer(answer: Answer, options: Options = {}): Promise<McpServer> {
  const url = await rawAddress(answer, options);
  const server = new McpServer('raw', { url }, { cwd: temporaryFolder(), env: {}, sandbox: null });
  closeLater(() => server.close());
  return server;
}

/** Calls the tool `one` and returns what a model gets. */
export async function callOne(server: McpServer, input: object = {}): Promise<string> {
  const { serverToolOf } = await import('../../src/tools/mcp-servers/server-tool.ts');
  const { argumentsFault } = await import('../../src/kernel/toolsets/json-schema/arguments-fault.ts');
  const { call, makeWorkspace } = await import('../tools/tool-fixture.ts');
  const [listed] = await server.tools();
  if (listed === undefined) throw new Error('the server has no tool');
  const tool = serverToolOf(server, listed, argumentsFault, () => null);
  const { status, output } = await call(tool as never, input, makeWorkspace());
  return `${status}: ${output}`;
}
