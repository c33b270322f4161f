/**
 * A hand-written MCP server on its standard streams, without any library: it answers as the specification of 2025-11-25 says, and misbehaves as a test
 * requests. `node mcp-server.ts '{"extra": 400}'`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

interface Behaviour {
  /** Number of additional tools. */
  readonly extra?: number;
  /** Exits at the first request with an unknown method. */
  readonly strict?: boolean;
  /** Does not answer `initialize`, nor unknown methods. */
  readonly silent?: boolean;
  /** Exits at once, with an error message. */
  readonly broken?: boolean;
  /** Writes lines that are not messages. */
  readonly chatty?: boolean;
  /** Tools to list instead of the server's own. */
  readonly tools?: readonly object[];
}

interface Request {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly requestId?: unknown;
    readonly cursor?: string;
    readonly _meta?: { readonly progressToken?: unknown };
  };
}

const behaviour = JSON.parse(process.argv[2] ?? '{}') as Behaviour;
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const PAGE = 100;

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
let tools: object[] = [
  {
    name: 'echo',
    description: 'Says the text again',
    inputSchema: object({ text: { type: 'string' } }, ['text']),
  },
  {
    name: 'pid',
    description: 'The id of this process',
    inputSchema: object({}),
    annotations: { readOnlyHint: true },
  },
  { name: 'environment', description: 'Names of its variables', inputSchema: object({}) },
  { name: 'hang', description: 'Never answers', inputSchema: object({}) },
  {
    name: 'work',
    description: 'Works with progress',
    inputSchema: object({ steps: { type: 'integer' }, ms: { type: 'integer' } }),
  },
  { name: 'die', description: 'Ends this process', inputSchema: object({}) },
  {
    name: 'flood',
    description: 'Writes without end',
    inputSchema: object({ how: { enum: ['messages', 'line', 'text'] } }),
  },
  { name: 'big', description: 'A long text', inputSchema: object({ bytes: { type: 'integer' } }) },
  { name: 'picture', description: 'A picture', inputSchema: object({}) },
  {
    name: 'shell',
    description: 'Runs a command without asking',
    inputSchema: object({ command: { type: 'string' } }),
  },
  { name: 'fail', description: 'Fails', inputSchema: object({}) },
  { name: 'stray', description: 'Leaves a process behind', inputSchema: object({}) },
  { name: 'change', description: 'Changes the tools', inputSchema: object({}) },
  { name: 'cancelled', description: 'Calls that were cancelled', inputSchema: object({}) },
  { name: 'with space/and.dots', description: 'A name that providers refuse', inputSchema: object({}) },
];
for (let at = 0; at < (behaviour.extra ?? 0); at += 1)
  tools.push({
    name: `extra_${at}`,
    description: `Number ${at}: ${['counts apples', 'paints walls', 'sends letters', 'opens issues'][at % 4]}`,
    inputSchema: object({ number: { type: 'integer', description: `how many, for ${at}` } }, ['number']),
  });
if (behaviour.tools !== undefined) tools = [...behaviour.tools];

const cancelled: unknown[] = [];
const write = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said: string, more: object = {}) => ({ content: [{ type: 'text', text: said }], ...more });

function flood(how: unknown): void {
  const line =
    how === 'line'
      ? 'x'.repeat(65_536)
      : how === 'text'
        ? `{"jsonrpc":"2.0","id":1,"result":"${'y'.repeat(65_536)}`
        : `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'z' } })}\n`.repeat(
            500,
          );
  const more = () => {
    while (process.stdout.write(how === 'text' ? line.slice(how === 'text' ? 0 : 1) : line));
    process.stdout.once('drain', more);
  };
  more();
}

async function call({ id, params = {} }: Request): Promise<void> {
  const { name = '', arguments: given = {}, _meta } = params;
  const answer = (result: object) => void write({ id, result });
  switch (name) {
    case 'echo':
      return answer(text(String(given.text)));
    case 'pid':
      return answer(text(String(process.pid)));
    case 'environment':
      return answer(text(Object.keys(process.env).sort().join(' ')));
    case 'hang':
      return;
    case 'work': {
      const steps = Number(given.steps ?? 3);
      for (let step = 1; step <= steps; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, Number(given.ms ?? 10)));
        const token = _meta?.progressToken;
        if (token !== undefined)
          write({
            method: 'notifications/progress',
            params: { progressToken: token, progress: step, total: steps, message: 'working' },
          });
      }
      return answer(text('worked'));
    }
    case 'die':
      process.stderr.write('the disk is on fire\n');
      setTimeout(() => process.exit(3), 20);
      return;
    case 'flood':
      return flood(given.how);
    case 'big':
      return answer(text('b'.repeat(Number(given.bytes ?? 100_000))));
    case 'picture':
      return answer({ content: [{ type: 'image', data: PICTURE, mimeType: 'image/png' }] });
    case 'shell': {
      const { stdout, stderr } = spawnSync('sh', ['-c', String(given.command)], { encoding: 'utf8' });
      return answer(text(`${stdout}${stderr}`));
    }
    case 'fail':
      return answer(text('it did not work', { isError: true }));
    case 'stray': {
      const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      child.unref();
      return answer(text(String(child.pid)));
    }
    case 'change':
      tools = [
        ...tools.filter((tool) => (tool as { name: string }).name !== 'echo'),
        { name: 'sing', description: 'Sings a song', inputSchema: object({}) },
      ];
      write({ method: 'notifications/tools/list_changed' });
      return answer(text('changed'));
    case 'sing':
      return answer(text('la la la'));
    case 'cancelled':
      return answer(text(JSON.stringify(cancelled.length)));
    default:
      if (tools.some((tool) => (tool as { name: string }).name === name))
        return answer(text(`${name} ${JSON.stringify(given)}`));
      write({ id, error: { code: -32602, message: `unknown tool ${name}` } });
  }
}

function list({ id, params = {} }: Request): void {
  const from = Number(params.cursor ?? 0);
  const page = tools.slice(from, from + PAGE);
  const more = from + PAGE < tools.length ? { nextCursor: String(from + PAGE) } : {};
  write({ id, result: { tools: page, ...more } });
}

function receive(request: Request): void {
  const { id, method } = request;
  switch (method) {
    case 'initialize':
      if (behaviour.silent === true) return;
      return void write({
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'testing', version: '1.2.3' },
        },
      });
    case 'tools/list':
      return list(request);
    case 'tools/call':
      return void call(request);
    case 'notifications/cancelled':
      return void cancelled.push(request.params?.requestId);
    default:
      if (id === undefined || behaviour.silent === true) return;
      if (behaviour.strict === true) process.exit(1);
      write({ id, error: { code: -32601, message: `unknown method ${method}` } });
  }
}

if (behaviour.broken === true) {
  process.stderr.write('no licence key found\n');
  process.exit(7);
}
if (behaviour.chatty === true) process.stdout.write('Welcome to the server!\n[info] listening\n\n');
createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line) as Request));
process.stdin.on('end', () => process.exit(0));
