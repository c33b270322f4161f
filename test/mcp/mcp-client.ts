/** A client of `coppice mcp` that speaks both eras of the protocol by hand, so that tests see the raw messages. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { inputSchema } from '../../src/kernel/toolsets/arguments.ts';
import { outputOf } from '../../src/mcp/tool-list.ts';
import { writeRules } from '../acp/editor-client.ts';
import type { Home } from '../cli/run-cli.ts';
import { closeLater } from '../close-opened.ts';
import { MAIN } from '../house/program.ts';

export { writeRules };

const ERA = { modern: '2026-07-28', legacy: '2025-11-25' } as const;

export interface Answer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ClientOptions {
  readonly era?: keyof typeof ERA;
  readonly capabilities?: object;
  readonly name?: string;
  /** Returns the user's answer to a form, for clients of the older era. */
  readonly onElicit?: (params: { message: string }) => object;
  readonly args?: readonly string[];
}

/** The parts of tool results that tests read. */
export interface Told {
  readonly agents: readonly { readonly agent_id: string; readonly name: string; readonly status: string }[];
  readonly results: readonly {
    readonly agent_id: string;
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly last_reply?: string;
    readonly outcome?: string;
    readonly outcome_text?: string;
    readonly error?: string;
  }[];
  readonly running?: readonly { readonly name: string }[];
  readonly killed?: readonly string[];
  readonly status?: string;
  readonly timed_out?: boolean;
  readonly approvals?: readonly { readonly wants: string }[];
}

export interface McpClient {
  readonly child: ChildProcess;
  readonly told: () => string;
  readonly progress: { readonly message: string }[];
  /** Returns the whole answer to one request. */
  ask(method: string, params?: object): Promise<Answer>;
  /** Returns the parsed result of a tool. Throws on a protocol error. */
  tool(
    name: string,
    input?: object,
    more?: object,
  ): Promise<{ readonly value: Told; readonly is_error: boolean; readonly raw: Record<string, unknown> }>;
  /** Id of the newest request. */
  newest(): number;
  /** Cancels a request, the newest one unless its id is given; it then has an error, because the server does not answer it. */
  cancel(id?: number): void;
  end(): Promise<number | null>;
}

export async function startClient(
  home: Home,
  model: string,
  options: ClientOptions = {},
): Promise<McpClient> {
  const { era = 'modern', capabilities = {}, name = 'tester', onElicit, args = [] } = options;
  const child = spawn(process.execPath, [MAIN, 'mcp', '--model', model, ...args], {
    cwd: home.work,
    env: home.env,
    stdio: 'pipe',
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  closeLater(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await closed;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  const waiting = new Map<number, (answer: Answer) => void>();
  const progress: { message: string }[] = [];
  const write = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Answer & {
      id?: number;
      method?: string;
      params?: { message: string };
    };
    if (message.method === 'elicitation/create')
      return void write({
        id: message.id,
        result: onElicit?.(message.params ?? { message: '' }) ?? { action: 'cancel' },
      });
    if (message.method === 'notifications/progress') return void progress.push(message.params as never);
    waiting.get(message.id ?? -1)?.(message);
  });
  void closed.then(() => {
    for (const settle of waiting.values()) settle({ error: { code: 0, message: `ended: ${stderr}` } });
  });
  const meta = (more: object) =>
    era === 'legacy'
      ? more
      : {
          'io.modelcontextprotocol/protocolVersion': ERA.modern,
          'io.modelcontextprotocol/clientInfo': { name, version: '1' },
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          ...more,
        };
  let last = 0;
  const ask = (method: string, params: { _meta?: object } = {}): Promise<Answer> => {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      write({ id, method, params: { ...params, _meta: meta(params._meta ?? {}) } });
    });
  };
  if (era === 'legacy') {
    await ask('initialize', {
      protocolVersion: ERA.legacy,
      clientInfo: { name, version: '1' },
      capabilities,
    } as object);
    write({ method: 'notifications/initialized' });
  }
  return {
    child,
    progress,
    told: () => stderr,
    ask,
    async tool(tool, input = {}, more = {}) {
      const { result, error } = await ask('tools/call', { name: tool, arguments: input, ...more } as object);
      if (result === undefined) throw new Error(JSON.stringify(error));
      const [block] = (result.content ?? []) as { text: string }[];
      const value = block === undefined ? {} : JSON.parse(block.text);
      if (block !== undefined && result.isError !== true) checkStructure(tool, value, result);
      return { value, is_error: result.isError === true, raw: result };
    },
    newest: () => last,
    cancel(id = last) {
      write({ method: 'notifications/cancelled', params: { requestId: id, reason: 'not wanted' } });
      waiting.get(id)?.({ error: { code: 0, message: 'cancelled' } });
    },
    async end() {
      child.stdin.end();
      return closed;
    },
  };
}

/** Every answer that is no error is also an object that the schema of its tool in `tools/list` describes. */
export function checkStructure(tool: string, value: object, { structuredContent }: Record<string, unknown>) {
  assert.deepEqual(structuredContent, Array.isArray(value) ? { sent: value } : value);
  const ajv = new Ajv({ strict: false });
  const is_valid = ajv.validate(inputSchema(outputOf(tool)), structuredContent);
  assert.ok(is_valid, `${tool}: ${ajv.errorsText()}`);
}

/** Polls a task until it is in one of these states. */
export async function taskIn(
  client: McpClient,
  taskId: string,
  states: readonly string[],
): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { result, error } = await client.ask('tasks/get', { taskId } as object);
    if (result === undefined) throw new Error(JSON.stringify(error));
    if (states.includes(result.status as string)) return result;
    await sleep(100);
  }
  throw new Error(`the task did not come to ${states.join(' or ')}`);
}
