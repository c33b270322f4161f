import { createMcpHandler } from '@modelcontextprotocol/server';
import { decoded } from '../records/text/text.ts';
import { errorFrame, readFrame } from './frame-text.ts';
import type { McpOptions } from './mcp-options.ts';
import { McpService } from './serve-client.ts';

/** `/mcp/NAME` names the client's agent; at `/mcp`, the client's own name is used, if it gives one. */
const NAMED = /^\/mcp\/([^/]+)\/?$/;

export interface McpHandler {
  /** `text` is the body of the request. */
  readonly fetch: (request: Request, text: string) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP (docs/mcp-server.md), in both protocol eras, without sessions: whatever a client may come back for is in the ledger. Checks
 * neither token nor host: the guard in front of it does.
 */
export function mcpHandler(options: McpOptions): McpHandler {
  const door = new McpService(options);
  const { fetch, close } = createMcpHandler((context) =>
    door.serverFor(context, nameIn(context.requestInfo)),
  );
  return {
    close,
    async fetch(request, text) {
      if (request.method !== 'POST') return fetch(request);
      const frame = readFrame(text);
      if (frame.ok) return fetch(request, { parsedBody: frame.value });
      return Response.json(errorFrame(frame), { status: 400 });
    },
  };
}

function nameIn(request: Request | undefined): string | undefined {
  if (request === undefined) return undefined;
  const [, name] = NAMED.exec(new URL(request.url).pathname) ?? [];
  return name === undefined ? undefined : decoded(name);
}
