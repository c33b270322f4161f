import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  type ClientContext,
  type ElicitResult,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { childEnvironment, configuredVariables } from '../../processes/child-environment.ts';
import { lastWordsIn, type PipedProgram, startPipedProgram } from '../../processes/sandbox/piped-program.ts';
import type { Sandbox } from '../../processes/sandbox/sandbox.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import { clean } from '../../render/clean.ts';
import type { OnAside } from './listed-tool.ts';
import { Login } from './login.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { errorChainText, isTimeout, McpError, NeedsLogin } from './mcp-error.ts';
import { requestHeaders } from './server-variables.ts';
import { fetchWithBounds } from './wire/bounded-fetch.ts';
import { LimitExceeded } from './wire/flood-watch.ts';
import { LenientAnswers } from './wire/lenient-answers.ts';
import { MessageLines } from './wire/stdio-messages.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const START_SECONDS = 30;
/** Timeout of the probe for newer versions of the protocol; after that, the program is greeted as the older ones prescribe. */
const PROBE_MS = 5_000;
/** Maximum time that ending a session may take. */
const FAREWELL_MS = 1_000;

export interface ConnectionPlace {
  /** The folder that a program starts in, canonical. */
  readonly cwd: string;
  readonly env: Environment;
  /** The sandbox for a program; null if it has all rights of the user. */
  readonly sandbox: Sandbox | null;
  /** Folder in which logins are kept; undefined if there are no logins. */
  readonly logins?: string | undefined;
  readonly onAside?: OnAside | undefined;
}

export interface Opened {
  readonly client: Client;
  /** Resolves to how the server ended, once it has. Never rejects. */
  readonly gone: Promise<string>;
  readonly stop: (why: string) => Promise<string>;
}

/** Callbacks for what the server sends on its own. */
export interface ServerListener {
  readonly onChanged: () => void;
  /** The server asks a person during a call. Servers of 2026-07-28 ask in the answer to the call instead. */
  readonly onAsked: (params: unknown, context: ClientContext) => Promise<ElicitResult>;
  /** The server asked for something that is not supported, such as sampling. */
  readonly onRefused: (method: string) => void;
}

/** Parameters of one start. */
interface Start extends ServerListener {
  readonly config: McpServerConfig;
  readonly place: ConnectionPlace;
  readonly signal: AbortSignal;
  readonly limit_ms: number;
  readonly left: () => number;
}

/** Starts a server, or connects to its address, and initializes the protocol. Rejects with an McpError. */
export async function openServer(
  config: McpServerConfig,
  place: ConnectionPlace,
  signal: AbortSignal,
  listener: ServerListener,
): Promise<Opened> {
  const began = performance.now();
  const limit_ms = (config.startTimeoutSeconds ?? START_SECONDS) * 1000;
  const left = () => Math.max(1, limit_ms - (performance.now() - began));
  const start = { ...listener, config, place, signal, limit_ms, left };
  const { url } = config;
  const open = (mode: Mode) => (url === undefined ? openProgram(start, mode) : openAddress(start, url, mode));
  return open('auto').catch((error: unknown) => {
    // Some older servers exit at the first request that they do not know, or do not answer it.
    if (error instanceof EndedEarly && !signal.aborted) return open('legacy');
    throw error;
  });
}

type Mode = 'auto' | 'legacy';

/** The program ended, or the address was silent, before the protocol was initialized. */
class EndedEarly extends McpError {}

async function openProgram(start: Start, mode: Mode): Promise<Opened> {
  const { config, place, signal, limit_ms } = start;
  const { command: file = '', args = [] } = config;
  const { cwd, env, sandbox } = place;
  const program = await startPipedProgram({
    ...{ file, args, cwd, sandbox, limits: config.limits },
    env: { ...childEnvironment([], env), ...configuredVariables(config, env) },
  }).catch((error: Error) => {
    throw new McpError(error.message);
  });
  const transport = new StdioTransport(program, new LenientAnswers());
  const stop = async (why: string): Promise<string> => {
    await program.stop(why);
    return program.gone;
  };
  const words = (how: string): string => {
    const noise = clean(transport.noise).slice(0, 300);
    return noise === '' ? how : `${how}; it wrote: ${noise}`;
  };
  try {
    return { client: await greet(transport, start, mode), gone: program.gone, stop };
  } catch (error) {
    // A program that can no longer be written to is about to end, and its end says more.
    const grace_ms = (error as NodeJS.ErrnoException).code === 'EPIPE' ? 1_000 : 0;
    const ended = await Promise.race([program.gone, sleep(grace_ms, null, { ref: false })]);
    const how = ended ?? (await stop('it could not be used'));
    if (signal.aborted) throw new McpError('was closed before it had answered');
    if (isTimeout(error))
      throw new McpError(words(`did not answer within ${limit_ms / 1000} s${lastWordsIn(how)}`));
    if (ended !== null || (error instanceof SdkError && ENDS.includes(error.code)))
      throw new EndedEarly(words(how));
    throw new McpError(words(`could not be initialized: ${errorChainText(error)}${lastWordsIn(how)}`));
  }
}

/** The program ended, or gave up, before it had answered. */
const ENDS: readonly unknown[] = [SdkErrorCode.ConnectionClosed, SdkErrorCode.EraNegotiationFailed];

async function openAddress(start: Start, url: string, mode: Mode): Promise<Opened> {
  const { config, place, signal, limit_ms } = start;
  const headers = requestHeaders(config, place.env);
  const has_own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const login = has_own || place.logins === undefined ? null : new Login(place.logins, url);
  const { promise: gone, resolve: end } = Promise.withResolvers<string>();
  const answers = new LenientAnswers();
  const transport: StreamableHTTPClientTransport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: fetchWithBounds((why) => {
      end(`is no longer used (${why})`);
      void transport.close().catch(() => undefined);
    }, answers),
    ...(login === null ? {} : { authProvider: login }),
  });
  answers.watch(transport);
  try {
    const client = await greet(transport, start, mode);
    const stop = async (why: string): Promise<string> => {
      end(`is no longer used (${why})`);
      await Promise.race([transport.terminateSession().catch(() => undefined), sleep(FAREWELL_MS)]);
      await client.close().catch(() => undefined);
      return gone;
    };
    return { client, gone, stop };
  } catch (error) {
    await transport.close().catch(() => undefined);
    if (signal.aborted) throw new McpError('was closed before it had answered');
    if (isTimeout(error))
      throw new (mode === 'auto' ? EndedEarly : McpError)(`did not answer within ${limit_ms / 1000} s`);
    const text = errorChainText(error);
    if (text.includes('needs you to log in')) throw new NeedsLogin('needs you to log in');
    throw new McpError(`could not be reached at ${clean(url)}: ${text}`);
  }
}

/** Initializes the protocol in the newest version that both sides support. */
async function greet(
  transport: Transport,
  { signal, onChanged, onAsked, onRefused, left }: Start,
  mode: Mode,
): Promise<Client> {
  const left_ms = left();
  const client = new Client(
    { name: 'coppice', title: 'Coppice', version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode, probe: { timeoutMs: Math.min(PROBE_MS, left_ms / 2) } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 50, onChanged } },
    },
  );
  // Errors outside of a request are ignored: nobody could act on them.
  client.onerror = () => undefined;
  client.setRequestHandler('elicitation/create', ({ params }, context) => onAsked(params, context));
  client.fallbackRequestHandler = async ({ method }) => {
    onRefused(method);
    const text = `Coppice does not support ${method}: it declares elicitation, and nothing else`;
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, text);
  };
  const connecting = client.connect(transport, { signal, timeout: left_ms });
  await unlessAborted(connecting, AbortSignal.timeout(Math.ceil(left_ms)), tooLate);
  return client;
}

function tooLate(): never {
  throw new SdkError(SdkErrorCode.RequestTimeout, 'too late');
}

/** The standard streams of a running program as a transport of the protocol library. */
class StdioTransport implements Transport {
  /** The library recognizes a transport over standard streams by these two properties. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #program: PipedProgram;
  readonly #answers: LenientAnswers;
  readonly #lines = new MessageLines();
  #started = false;

  constructor(program: PipedProgram, answers: LenientAnswers) {
    this.#program = program;
    this.#answers = answers;
    answers.watch(this);
  }

  /** The beginning of the program's output that was not a message. */
  get noise(): string {
    return this.#lines.noise;
  }

  start(): Promise<void> {
    if (this.#started) throw new Error('the transport has been started');
    this.#started = true;
    this.#program.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    void this.#program.gone.then(() => this.onclose?.());
    return Promise.resolve();
  }

  #read(chunk: Buffer): void {
    try {
      for (const value of this.#lines.push(chunk))
        for (const message of this.#answers.read(value)) this.#receive(message);
    } catch (error) {
      this.#program.stdout.removeAllListeners('data').resume();
      const why = error instanceof LimitExceeded ? error.message : `a fault in Coppice: ${String(error)}`;
      void this.#program.stop(why);
    }
  }

  /** A message that the library cannot use does not end the connection. */
  #receive(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program;
    if (!stdin.writable) return Promise.reject(new Error('the program has ended'));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    await this.#program.stop('it was closed');
  }
}
