/**
 * A real agent program that speaks the Agent Client Protocol on its standard streams. The last line of a prompt selects its
 * action; its command-line arguments select its behaviour otherwise.
 */

import { execFile } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentContext,
  agent,
  type McpServer,
  methods,
  ndJsonStream,
  type PermissionOption,
  type PromptRequest,
  RequestError,
  type SessionUpdate,
  type StopReason,
  type ToolKind,
} from '@agentclientprotocol/sdk';

const flags = new Set(process.argv.slice(2));
const { permission, cancelled, turns, chosen, mcp_servers } = {
  permission: new Map<string, PermissionOption[]>([
    ['all', options('allow_always', 'allow_once', 'reject_once', 'reject_always')],
    ['for-ever', options('allow_always', 'reject_always')],
  ]),
  cancelled: new Map<string, () => void>(),
  turns: new Map<string, number>(),
  chosen: new Map<string, string>(),
  mcp_servers: new Map<string, readonly McpServer[]>(),
};

function options(...kinds: PermissionOption['kind'][]): PermissionOption[] {
  return kinds.map((kind) => ({ optionId: kind, name: kind, kind }));
}

interface Turn {
  readonly session: string;
  readonly client: AgentContext;
  readonly prompt: PromptRequest;
  readonly cancelled: Promise<void>;
  say(text: string): Promise<void>;
  update(update: SessionUpdate): Promise<void>;
}

const ACTIONS: Readonly<Record<string, (turn: Turn, rest: string) => Promise<StopReason | undefined>>> = {
  async echo(turn, rest) {
    for (const word of rest.split(/(?<= )/)) await turn.say(word);
    return undefined;
  },
  async servers(turn) {
    await turn.say(JSON.stringify(mcp_servers.get(turn.session)));
    return undefined;
  },
  /** Starts the session's first MCP server, calls its tool `echo`, and says the result. */
  async tool(turn, rest) {
    const [server] = mcp_servers.get(turn.session) ?? [];
    if (server === undefined || !('command' in server)) throw new Error('no MCP server to start');
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
    const { command, args } = server;
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(
      new StdioClientTransport({ command, args, env: { ...process.env, ...env } as never }),
    );
    const { content } = await client.callTool({ name: 'echo', arguments: { text: rest } });
    await client.close();
    await turn.say(JSON.stringify(content));
    return undefined;
  },
  async prompt(turn) {
    await turn.say(JSON.stringify(turn.prompt.prompt));
    return undefined;
  },
  async turn(turn) {
    await turn.say(`turn ${turns.get(turn.session)} of ${turn.session} in ${process.pid}`);
    return undefined;
  },
  async chosen(turn) {
    await turn.say(chosen.get(turn.session) ?? 'nothing');
    return undefined;
  },
  async environment(turn) {
    await turn.say(JSON.stringify(Object.keys(process.env)));
    return undefined;
  },
  async think(turn, rest) {
    await turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm, ' } });
    await turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'yes' } });
    await turn.say('First.');
    await turn.update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Look around', kind: 'read' });
    await turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    await turn.say(rest);
    return undefined;
  },
  async slow(turn, rest) {
    for (let part = 1; part <= Number(rest); part += 1) {
      await turn.say(`${part} `);
      const stopped = await Promise.race([sleep(20, false), turn.cancelled.then(() => true)]);
      if (stopped) return 'cancelled';
    }
    return undefined;
  },
  async hang(turn) {
    await turn.say('hanging');
    await turn.cancelled;
    return 'cancelled';
  },
  async stubborn(turn) {
    await turn.say('deaf');
    await turn.cancelled;
    await turn.say(' and talking on');
    await new Promise(() => undefined);
    return undefined;
  },
  async stop(_turn, rest) {
    return rest as StopReason;
  },
  async read(turn, rest) {
    const [path = '', line, limit] = rest.split(' ');
    const window = line === undefined ? {} : { line: Number(line), limit: Number(limit) };
    const answer = await turn.client.request(methods.client.fs.readTextFile, {
      sessionId: turn.session,
      path,
      ...window,
    });
    await turn.say(answer.content);
    return undefined;
  },
  async write(turn, rest) {
    const space = rest.indexOf(' ');
    await turn.client.request(methods.client.fs.writeTextFile, {
      sessionId: turn.session,
      path: rest.slice(0, space),
      content: rest.slice(space + 1),
    });
    await turn.say('written');
    return undefined;
  },
  /** `ask all|for-ever KIND {"rawInput": …}` */
  async ask(turn, rest) {
    const [which = '', kind = '', ...facts] = rest.split(' ');
    const { outcome } = await turn.client.request(methods.client.session.requestPermission, {
      sessionId: turn.session,
      toolCall: {
        toolCallId: 'asked',
        kind: kind as ToolKind,
        title: 'something',
        ...(facts.length === 0 ? {} : (JSON.parse(facts.join(' ')) as object)),
      },
      options: permission.get(which) ?? [],
    });
    await turn.say(outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);
    return undefined;
  },
  /** Reports nothing after the permission request was answered, as some programs do. */
  async 'ask-and-stop'(turn, rest) {
    await turn.say('I try.');
    await turn.client.request(methods.client.session.requestPermission, {
      sessionId: turn.session,
      toolCall: { toolCallId: 'unannounced', title: 'Write it', kind: rest as ToolKind },
      options: permission.get('all') ?? [],
    });
    return undefined;
  },
  /** Reports the cost of the session so far, in US dollars. */
  async cost(turn, rest) {
    const cost = { amount: Number(rest), currency: 'USD' };
    await turn.update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost });
    return undefined;
  },
  /** `cost-and-hang AMOUNT` */
  async 'cost-and-hang'(turn, rest) {
    await ACTIONS.cost?.(turn, rest);
    return ACTIONS.hang?.(turn, rest);
  },
  /** Sends an answer, then a notice of the program itself, which has no message id. */
  async notice(turn, rest) {
    const content = { type: 'text' as const, text: rest };
    await turn.update({ sessionUpdate: 'agent_message_chunk', messageId: 'm1', content });
    await turn.say('**Warning:** all is well');
    return undefined;
  },
  async run(turn, rest) {
    const [command = '', ...args] = rest.split(' ');
    const terminal = await turn.client.createTerminal({ sessionId: turn.session, command, args });
    const exit = await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    await terminal.release();
    await turn.say(`${output.trim()} [${exit.exitCode}${truncated ? ', truncated' : ''}]`);
    return undefined;
  },
  /** `run-in FOLDER COMMAND`, for a shell. */
  async 'run-in'(turn, rest) {
    const [cwd = '', ...command] = rest.split(' ');
    const terminal = await turn.client.createTerminal({
      ...{ sessionId: turn.session, cwd, command: command.join(' ') },
    });
    const exit = await terminal.waitForExit();
    await turn.say(`${(await terminal.currentOutput()).output.trim()} [${exit.exitCode}]`);
    return undefined;
  },
  /** Starts a command that continues after the answer. */
  async leave(turn, rest) {
    const terminal = await turn.client.createTerminal({
      sessionId: turn.session,
      command: `${rest} & echo $!; wait`,
    });
    let pid = '';
    for (; pid === ''; await sleep(10)) pid = (await terminal.currentOutput()).output.trim();
    await turn.say(pid);
    return undefined;
  },
  /** Runs a shell command itself, without asking for permission. */
  async own(turn, rest) {
    await new Promise<void>((done) => {
      execFile('/bin/sh', ['-c', rest], (_error, stdout, stderr) => {
        void turn.say(`${stdout}${stderr}` || 'nothing').then(done);
      });
    });
    return undefined;
  },
  async crash(turn) {
    await turn.say('about to');
    process.stderr.write('\u001b[31mfatal: out of luck\u001b[0m\n[stack] at home\n');
    process.exit(7);
  },
  async flood(turn, rest) {
    const piece = 'x'.repeat(1000);
    for (let left = Number(rest); left > 0; left -= 1) await turn.say(piece);
    return undefined;
  },
  async garbage(turn, rest) {
    process.stdout.write('log: no message at all\n[1, 2]\n{"not": "ours"}\n{broken\n');
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: 4711, result: null })}\n`);
    const params = { sessionId: turn.session, update: { sessionUpdate: 'of_the_future', x: 1 } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`);
    await turn.say(rest);
    return undefined;
  },
  async late(turn, rest) {
    await turn.say('done');
    setTimeout(() => {
      const read = turn.client.request(methods.client.fs.readTextFile, {
        sessionId: turn.session,
        path: rest,
      });
      read.then(
        ({ content }) => chosen.set(turn.session, content),
        (error: Error) => chosen.set(turn.session, error.message),
      );
    }, 20);
    return undefined;
  },
};

async function answer(prompt: PromptRequest, client: AgentContext): Promise<StopReason> {
  const session = prompt.sessionId;
  turns.set(session, (turns.get(session) ?? 0) + 1);
  const update = (one: SessionUpdate) =>
    client.notify(methods.client.session.update, { sessionId: session, update: one });
  const turn: Turn = {
    session,
    client,
    prompt,
    update,
    cancelled: new Promise((resolve) => cancelled.set(session, resolve)),
    say: (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
  };
  const text = prompt.prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const last = text.split('\n').at(-1) ?? '';
  const [name = ''] = last.split(' ', 1);
  const action = ACTIONS[name];
  if (action === undefined) throw RequestError.invalidParams({ details: `no action ${name}` });
  return (await action(turn, last.slice(name.length + 1))) ?? 'end_turn';
}

if (flags.has('--exit')) {
  process.stderr.write('no configuration found\n');
  process.exit(3);
}
if (flags.has('--help')) process.stdout.write('usage: agent [options]\n');
if (flags.has('--lingers'))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
if (flags.has('--lingers') || flags.has('--silent')) setInterval(() => undefined, 1000);

if (!flags.has('--silent')) {
  agent({ name: 'test' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: flags.has('--version-2') ? 2 : 1,
      agentCapabilities: {
        promptCapabilities: { image: flags.has('--pictures') },
        mcpCapabilities: { http: flags.has('--mcp-by-http') },
        sessionCapabilities: { close: {} },
      },
      authMethods: [{ id: 'browser', name: 'Log in with a browser' }],
    }))
    .onRequest(methods.agent.session.new, async ({ params }) => {
      if (flags.has('--auth')) throw RequestError.authRequired();
      if (flags.has('--slow-session')) await sleep(400);
      const sessionId = `s${turns.size + 1}`;
      turns.set(sessionId, 0);
      mcp_servers.set(sessionId, params.mcpServers);
      if (!flags.has('--choices')) return { sessionId };
      return {
        sessionId,
        modes: { currentModeId: 'code', availableModes: ['code', 'plan'].map((id) => ({ id, name: id })) },
        configOptions: [
          {
            type: 'select' as const,
            id: 'model',
            name: 'Model',
            currentValue: 'vendor/small',
            options: ['vendor/small', 'vendor/large'].map((value) => ({ value, name: value })),
          },
        ],
      };
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      chosen.set(params.sessionId, `mode ${params.modeId}`);
    })
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      chosen.set(params.sessionId, `${params.configId} ${String(params.value)}`);
      return { configOptions: [] };
    })
    .onRequest(methods.agent.session.close, ({ params }) => {
      turns.set(params.sessionId, -1);
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const stopReason = await answer(params, client);
      // From the protocol's draft; the library passes unknown fields on.
      const usage = { inputTokens: 10, outputTokens: 5, cachedReadTokens: 90, totalTokens: 105 };
      const token_count = { input_tokens: 30, output_tokens: 3 };
      if (flags.has('--usage-updates'))
        for (const outputTokens of [5, 7]) {
          // As Qwen Code tells them, with an empty text, for each of its requests.
          const content = { type: 'text' as const, text: '' };
          const _meta = {
            usage: { inputTokens: 10, outputTokens, totalTokens: 10 + outputTokens, thoughtTokens: 'x' },
          };
          const update = { sessionUpdate: 'agent_message_chunk' as const, content, _meta };
          await client.notify(methods.client.session.update, { sessionId: params.sessionId, update });
        }
      if (flags.has('--quota')) return { stopReason, _meta: { quota: { token_count } } };
      return flags.has('--usage') ? { stopReason, usage } : { stopReason };
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
    .connect(
      ndJsonStream(
        Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
        Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
      ),
    );
  if (!flags.has('--lingers')) process.stdin.once('end', () => process.exit(0));
}
