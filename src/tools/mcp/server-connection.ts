import {
  type CallToolResult,
  type Client,
  type ClientContext,
  type ElicitResult,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { clean } from '../../render/clean.ts';
import { CALL_SECONDS, CallTimeout } from './asking/call-timeout.ts';
import { type AskingCall, type AskPerson, elicit } from './asking/elicitation.ts';
import { callInRounds } from './asking/rounds.ts';
import { type ListedTool, listedTool } from './listed-tool.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { asMcpError, isLost, McpError } from './mcp-error.ts';
import { type ConnectionPlace, type Opened, openServer } from './open-server.ts';

const PAGES_MAX = 100;
const TOOLS_MAX = 2_000;
/** Minimum time between two live lines of progress. */
const PROGRESS_MS = 250;
/** Timeout for the library, which must never fire: only the call's `CallTimeout` ends a call. */
const NO_LIMIT_MS = 2_000_000_000;
/** Interval at which a server that asks is told that its question is still open. */
const STILL_ASKING_MS = 10_000;

/** How the caller watches and cancels a call. */
export interface CallWatch {
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Name of the calling agent. */
  readonly caller?: string;
  readonly ask?: AskPerson | undefined;
}

/** An initialized connection to a server. All methods reject with an McpError. */
export class ServerConnection {
  /** The name and version that the server states, on one line. */
  readonly about: string;
  readonly version: string;
  /** Resolves to how the connection ended, once it has. Never rejects. */
  readonly gone: Promise<string>;
  readonly #client: Client;
  readonly #call_ms: number;
  readonly #stop: (why: string) => Promise<string>;
  readonly #name: string;
  readonly #running: Set<AskingCall>;
  #over: string | null = null;

  private constructor(
    name: string,
    { client, gone, stop }: Opened,
    config: McpServerConfig,
    running: Set<AskingCall>,
  ) {
    this.#name = name;
    this.#running = running;
    this.#client = client;
    this.#call_ms = (config.timeoutSeconds ?? CALL_SECONDS) * 1000;
    this.#stop = stop;
    const said = client.getServerVersion();
    this.about = clean(`${said?.name ?? ''} ${said?.version ?? ''}`).slice(0, 100);
    this.version = client.getNegotiatedProtocolVersion() ?? '';
    this.gone = gone;
    void gone.then((how) => {
      this.#over = how;
    });
  }

  /** Starts the server and initializes the protocol. `onChanged` is called when the server's tools have changed. */
  static async open(
    name: string,
    config: McpServerConfig,
    place: ConnectionPlace,
    signal: AbortSignal,
    onChanged: () => void,
  ): Promise<ServerConnection> {
    const running = new Set<AskingCall>();
    const onAsked = (params: unknown, context: ClientContext) => askNewest(name, params, running, context);
    const opened = await openServer(config, place, signal, { onChanged, onAsked });
    return new ServerConnection(name, opened, config, running);
  }

  /** Whether the server announces changes of its tools. */
  get tellsChanges(): boolean {
    return this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  /** The server's tools, in its order, without those that cannot be offered to a model. */
  async tools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const found = new Map<string, ListedTool>();
    let cursor: string | undefined;
    for (let page = 1; ; page += 1) {
      const asked = cursor;
      const answer = await this.#ask(() =>
        this.#client.listTools(asked === undefined ? { cursor: undefined } : { cursor: asked }, {
          signal,
          timeout: this.#call_ms,
          cacheMode: 'bypass',
        }),
      );
      for (const tool of answer.tools) {
        const listed = listedTool(tool);
        if (listed !== null && !found.has(listed.name)) found.set(listed.name, listed);
        if (found.size >= TOOLS_MAX) return [...found.values()];
      }
      cursor = answer.nextCursor;
      if (cursor === undefined || cursor === asked || page >= PAGES_MAX) return [...found.values()];
    }
  }

  /** Runs a tool. Progress goes to `onProgress` and restarts the clock, which stops while a person is asked; the server is told of an abort. */
  async call(
    tool: ListedTool,
    input: Record<string, unknown>,
    { signal, onProgress, ask, caller = '' }: CallWatch,
  ): Promise<CallToolResult> {
    let told = Number.NEGATIVE_INFINITY;
    const patience = new CallTimeout(this.#call_ms, signal);
    const about = `${caller === '' ? '' : `${caller}: `}${tool.name}`;
    const asking: AskingCall = { about, input: JSON.stringify(input), patience, ask };
    this.#running.add(asking);
    try {
      const options = {
        signal: patience.signal,
        timeout: NO_LIMIT_MS,
        toolDefinition: { name: tool.name, inputSchema: tool.input as { type: 'object' } },
        onprogress: ({ progress, total, message }: Progress) => {
          patience.progressed();
          if (performance.now() - told < PROGRESS_MS) return;
          told = performance.now();
          const share = total === undefined ? String(progress) : `${progress} of ${total}`;
          onProgress(`${share}${message === undefined ? '' : ` ${clean(message).slice(0, 500)}`}\n`);
        },
      };
      return await this.#ask(() =>
        callInRounds(this.#client, { name: tool.name, arguments: input }, options, (params) =>
          elicit(this.#name, params, asking, [], patience.signal),
        ),
      );
    } finally {
      this.#running.delete(asking);
      patience.end();
    }
  }

  async #ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    if (this.#over !== null) throw new McpError(this.#over);
    try {
      return await request();
    } catch (error) {
      if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
        throw new McpError(await this.gone, true);
      // The next use opens a new connection, with a session of its own.
      if (isLost(error)) void this.#stop('it could not be reached');
      throw asMcpError(error, this.#call_ms);
    }
  }

  stop(why: string): Promise<string> {
    return this.#stop(why);
  }
}

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Before version 2026-07-28 a question does not say to which call it belongs: it is put to the newest caller, with a note if other calls are in progress. */
async function askNewest(
  server: string,
  params: unknown,
  running: ReadonlySet<AskingCall>,
  { mcpReq }: ClientContext,
): Promise<ElicitResult> {
  const calls = [...running];
  const newest = calls.pop();
  if (newest === undefined) return { action: 'cancel' };
  const token = mcpReq._meta?.progressToken;
  let sign = 0;
  const telling =
    token === undefined
      ? undefined
      : setInterval(() => {
          sign += 1;
          const still = { progressToken: token, progress: sign, message: 'a person is asked' };
          void mcpReq.notify({ method: 'notifications/progress', params: still }).catch(() => undefined);
        }, STILL_ASKING_MS);
  try {
    const others = calls.map(({ about }) => about);
    return await elicit(server, params, newest, others, mcpReq.signal);
  } finally {
    clearInterval(telling);
  }
}
