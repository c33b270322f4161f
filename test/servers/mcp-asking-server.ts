/**
 * A server built with the protocol's own library that asks people during its calls. `node mcp-asking-server.ts new` speaks 2026-07-28 and answers the call
 * with its questions; `old` speaks 2025-11-25 and sends a request to the client.
 */
import {
  type ElicitInputParams,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const FORM: ElicitInputParams = {
  message: 'Which table?\nSay it exactly.',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2 },
      guests: { type: 'integer', minimum: 1, maximum: 8 },
      smoking: { type: 'boolean', default: false },
      room: { type: 'string', enum: ['hall', 'garden'] },
      extras: { type: 'array', items: { type: 'string', enum: ['cake', 'music'] } },
    },
    required: ['name', 'guests'],
  },
} as ElicitInputParams;
const YES: ElicitInputParams = {
  message: 'Really?',
  requestedSchema: { type: 'object', properties: {} },
} as ElicitInputParams;

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

/** Number of times that each tool has done its work. */
const done = { book: 0 };

function asking(): McpServer {
  const server = new McpServer({ name: 'asking', version: '1.0.0' });
  const tool = (name: string, request: ReturnType<typeof inputRequired.elicit>) =>
    server.registerTool(
      name,
      { description: 'Asks a person', inputSchema: z.object({ day: z.string().optional() }) },
      (_, context) => {
        const answer = inputResponse(context.mcpReq.inputResponses, 'it');
        if (answer.kind === 'missing')
          return inputRequired({ inputRequests: { it: request }, requestState: 's1' });
        if (answer.kind !== 'elicit') return text('no answer to a question');
        done.book += 1;
        return text(
          JSON.stringify({ action: answer.action, content: answer.content ?? null, done: done.book }),
        );
      },
    );
  tool('book', inputRequired.elicit(FORM));
  tool('sure', inputRequired.elicit(YES));
  tool('visit', inputRequired.elicitUrl({ message: 'Log in there', url: 'https://login.example/start?x=1' }));
  server.registerTool(
    'impatient',
    { description: 'Asks, and does not wait for the answer', inputSchema: z.object({}) },
    async (_, context) => {
      const answer = await context.mcpReq
        .elicitInput(FORM as never, { timeout: 300 })
        .catch((error) => error);
      return text(answer instanceof Error ? 'gave up asking' : 'was answered');
    },
  );
  server.registerTool(
    'patient',
    { description: 'Asks with progress of its own limit', inputSchema: z.object({}) },
    async (_, context) => text((await context.mcpReq.elicitInput(YES as never)).action),
  );
  return server;
}

if (process.argv[2] === 'old') await asking().connect(new StdioServerTransport());
else serveStdio(asking);
