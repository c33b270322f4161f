import { Readable, Writable } from 'node:stream';
import {
  type ClientApp,
  type ClientConnection,
  client,
  type InitializeResponse,
  type McpServer,
  MessageTooLargeError,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { childEnvironment, configuredVariables } from '../../processes/child-environment.ts';
import {
  lastWordsIn,
  type PipedProgram,
  readable,
  startPipedProgram,
} from '../../processes/sandbox/piped-program.ts';
import type { Sandbox } from '../../processes/sandbox/sandbox.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { AcpServerConfig } from './acp-config.ts';
import { AcpError } from './acp-failure.ts';
import { AcpSession, exitStatus } from './acp-session.ts';
import { type AcpWire, acpWire } from './acp-wire.ts';

const START_SECONDS = 30;
const SESSION_SECONDS = 60;
const notice = z.object({ sessionId: z.string(), update: z.unknown() });
const newSession = z.looseObject({ sessionId: z.string().min(1) });

export interface AcpStart {
  readonly name: string;
  readonly config: AcpServerConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the program starts in, and that its sandbox is for. */
  readonly cwd: string;
  readonly sandbox: Sandbox | null;
  readonly tool_servers: readonly McpServer[];
}

/** A running agent program that has answered `initialize`, and its sessions. */
export class AcpConnection {
  readonly name: string;
  /** Resolves to how the program ended, once it has. Never rejects. */
  readonly gone: Promise<string>;
  readonly #program: PipedProgram;
  readonly #tool_servers: readonly McpServer[];
  readonly #wire: AcpWire;
  readonly #connection: ClientConnection;
  readonly #sessions = new Map<string, AcpSession>();
  #info: InitializeResponse = { protocolVersion: PROTOCOL_VERSION };

  private constructor(name: string, program: PipedProgram, tool_servers: readonly McpServer[]) {
    this.name = name;
    this.#tool_servers = tool_servers;
    this.#program = program;
    this.#wire = acpWire(
      Writable.toWeb(program.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(program.stdout) as unknown as ReadableStream<Uint8Array>,
      (params) => this.#update(params),
    );
    this.#connection = acpClient(this.#sessions).connect(this.#wire.stream);
    this.gone = program.gone.then(async (how) => {
      this.#connection.close();
      await Promise.all([...this.#sessions.values()].map((session) => session.end()));
      this.#sessions.clear();
      return how;
    });
    this.#connection.signal.addEventListener('abort', () => {
      const { reason } = this.#connection.signal;
      if (reason instanceof MessageTooLargeError) void program.stop('it sent a message that is too large');
    });
  }

  /** Starts the program and initializes the protocol. Rejects with an AcpError after stopping the program. */
  static async start(
    { name, config, env, cwd, sandbox, tool_servers }: AcpStart,
    given_up: AbortSignal,
  ): Promise<AcpConnection> {
    const seconds = config.startTimeoutSeconds ?? START_SECONDS;
    let connection: AcpConnection | undefined;
    try {
      const { command, args = [] } = config;
      const program = await startPipedProgram({
        ...{ file: command, args, cwd, sandbox, limits: config.limits },
        env: { ...childEnvironment([], env), ...configuredVariables(config, env) },
      });
      connection = new AcpConnection(name, program, tool_servers);
      const info = await within(
        unlessAborted(connection.#introduce(), given_up, () => {
          throw new AcpError('cancelled', 'was closed before it had answered', true);
        }),
        seconds,
      );
      if (info === null) {
        const sentence = `did not answer "initialize" within ${seconds} s`;
        throw new AcpError(
          'timed_out',
          `${sentence}${connection.#words(await connection.stop(sentence))}`,
          true,
        );
      }
      if (info.protocolVersion !== PROTOCOL_VERSION) {
        const versions = `speaks version ${info.protocolVersion} of the protocol; we speak ${PROTOCOL_VERSION}`;
        throw new AcpError('no_model', versions, false);
      }
      connection.#info = info;
      return connection;
    } catch (error) {
      await connection?.stop('it could not be used');
      const known = error instanceof AcpError;
      const text = error instanceof Error ? error.message : String(error);
      const way_out = (await sandbox?.problem())
        ? `. For this program alone: "sandbox": "off" in acp.${name}`
        : '';
      throw new AcpError(
        known ? error.kind : 'no_model',
        `acp:${name}: the agent program ${text}${way_out}`,
        true,
      );
    }
  }

  async #introduce(): Promise<InitializeResponse> {
    try {
      return await this.#connection.agent.request('initialize', {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'coppice', title: 'Coppice', version: '1' },
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      });
    } catch (error) {
      if (error instanceof RequestError) throw new Error(`refused "initialize": ${error.message}`);
      throw new AcpError('no_model', `${await this.#program.gone}${this.#words('')}`, true);
    }
  }

  /** Output that was not a message: often a usage text because of wrong arguments. */
  #words(how: string): string {
    const last = lastWordsIn(how);
    const noise = readable(this.#wire.noise());
    return noise === '' ? last : `${last}; it wrote: ${noise}`;
  }

  /** Whether the program accepts pictures in prompts. */
  get pictures(): boolean {
    return this.#info.agentCapabilities?.promptCapabilities?.image === true;
  }

  /** Names of the ways to log in that the program offers. */
  get logins(): readonly string[] {
    return (this.#info.authMethods ?? []).map((method) => method.name);
  }

  /** Opens a session in this folder, with the mode or model called `agent_id`. Rejects with an AcpError or a RequestError. */
  async openSession(cwd: string, agent_id: string | null): Promise<AcpSession> {
    const by_http = this.#tool_servers.find((one) => 'url' in one);
    if (by_http !== undefined && this.#info.agentCapabilities?.mcpCapabilities?.http !== true)
      throw this.#fault(
        'no_model',
        `does not support MCP servers over HTTP, such as ${by_http.name}: remove it from "mcpServers" of acp.${this.name}`,
      );
    const asked = this.request<NewSessionResponse>('session/new', { cwd, mcpServers: this.#tool_servers });
    const answer = await within(asked, SESSION_SECONDS);
    if (answer === null) throw this.#fault('timed_out', `opened no session within ${SESSION_SECONDS} s`);
    if (!newSession.safeParse(answer).success)
      throw this.#fault('internal', 'opened a session without an id');
    const session = new AcpSession(answer.sessionId);
    this.#sessions.set(session.id, session);
    try {
      if (agent_id !== null) {
        const { method, params } = choiceOf(agent_id, answer);
        await this.request(method, params);
      }
      return session;
    } catch (error) {
      this.closeSession(session);
      throw error;
    }
  }

  /** Closes a session, also in the program if it supports that. */
  closeSession(session: AcpSession): void {
    this.#sessions.delete(session.id);
    void session.end();
    const closes = this.#info.agentCapabilities?.sessionCapabilities?.close;
    if (closes !== undefined && closes !== null)
      void this.request('session/close', { sessionId: session.id }).catch(() => undefined);
  }

  /** Rejects with the program's RequestError, or with an AcpError when the program is gone. */
  async request<Answer>(method: string, params: unknown): Promise<Answer> {
    try {
      return await this.#connection.agent.request<Answer>(method, params);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw this.#fault('network', await this.gone);
    }
  }

  #fault(kind: AcpError['kind'], what: string): AcpError {
    return new AcpError(kind, `acp:${this.name}: the agent program ${what}`, kind !== 'no_model');
  }

  /** Asks the program to stop the session's prompt, without waiting. */
  cancel(session: AcpSession): void {
    void this.#connection.agent.notify('session/cancel', { sessionId: session.id }).catch(() => undefined);
  }

  async stop(why: string): Promise<string> {
    await this.#program.stop(why);
    return this.gone;
  }

  #update(params: unknown): void {
    const parsed = notice.safeParse(params);
    if (parsed.success) this.#sessions.get(parsed.data.sessionId)?.update(parsed.data.update);
  }
}

/** Resolves to null after the timeout. */
function within<Value>(promise: Promise<Value>, seconds: number): Promise<Value | null> {
  return unlessAborted(promise, AbortSignal.timeout(Math.ceil(seconds * 1000)), () => null);
}

export function acpClient(sessions: ReadonlyMap<string, AcpSession>): ClientApp {
  const session = (id: string): AcpSession => {
    const found = sessions.get(id);
    if (found === undefined) throw RequestError.sessionNotFound(id);
    return found;
  };
  const { fs, session: asks, terminal } = methods.client;
  return client({ name: 'coppice' })
    .onRequest(asks.requestPermission, ({ params }) => session(params.sessionId).permission(params))
    .onRequest(fs.readTextFile, async ({ params: { sessionId, path, line, limit } }) => ({
      content: await session(sessionId).readFile(path, line ?? undefined, limit ?? undefined),
    }))
    .onRequest(fs.writeTextFile, ({ params }) =>
      session(params.sessionId).writeFile(params.path, params.content),
    )
    .onRequest(terminal.create, async ({ params }) => ({
      terminalId: await session(params.sessionId).createTerminal(params),
    }))
    .onRequest(terminal.output, ({ params }) => session(params.sessionId).terminalOutput(params.terminalId))
    .onRequest(terminal.waitForExit, async ({ params }) =>
      exitStatus(await session(params.sessionId).terminal(params.terminalId).exited),
    )
    .onRequest(terminal.kill, ({ params }) => session(params.sessionId).terminal(params.terminalId).kill())
    .onRequest(terminal.release, ({ params }) =>
      session(params.sessionId).releaseTerminal(params.terminalId),
    );
}

/** Programs without configuration options list their models here. */
const listedModels = z.object({
  models: z.object({ availableModels: z.array(z.object({ modelId: z.string() })) }),
});

/**
 * The request that selects the mode named `agent_id` for a new session, or else the option value or model of that name. Throws an AcpError that lists the
 * choices if there is none.
 */
function choiceOf(
  agent_id: string,
  session: NewSessionResponse,
): { readonly method: string; readonly params: Readonly<Record<string, unknown>> } {
  const choices = choicesOf(session);
  const found = choices.find(({ value }) => value === agent_id);
  if (found !== undefined)
    return { method: found.method, params: { sessionId: session.sessionId, ...found.params } };
  const kinds = [...new Set(choices.map(({ what }) => what))];
  const listed = kinds.map((kind) => {
    const values = choices.filter(({ what }) => what === kind).map(({ value }) => value);
    return `${kind}: ${values.slice(0, 30).join(', ')}${values.length > 30 ? ', …' : ''}`;
  });
  const offer = listed.length === 0 ? 'it offers nothing to choose from' : `it offers ${listed.join('; ')}`;
  throw new AcpError('no_model', `the agent program has no mode or model "${agent_id}"; ${offer}`, false);
}

/** The options of a session that the program offers. */
function choicesOf(session: NewSessionResponse) {
  const choice = (
    what: string,
    value: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
  ) => ({
    ...{ what, value, params },
    method: `session/${method}`,
  });
  const modes = session.modes?.availableModes ?? [];
  const options = (session.configOptions ?? []).flatMap((option) => {
    if (option.type !== 'select') return [];
    const values = option.options.flatMap((one) => ('options' in one ? one.options : [one]));
    return values.map(({ value }) =>
      choice(option.name, value, 'set_config_option', { configId: option.id, value }),
    );
  });
  const models = listedModels.safeParse(session).data?.models.availableModels ?? [];
  return [
    ...modes.map(({ id }) => choice('modes', id, 'set_mode', { modeId: id })),
    ...options,
    ...models.map(({ modelId }) => choice('models', modelId, 'set_model', { modelId })),
  ];
}
