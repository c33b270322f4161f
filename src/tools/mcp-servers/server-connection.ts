import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  type Client,
  type ClientContext,
  type ElicitResult,
  isInputRequiredResult,
  MissingRequiredClientCapabilityError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { fieldsOf, itemsOf } from '../../records/text/json-fields.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import { clean } from '../../render/clean.ts';
import { CALL_SECONDS, CallTimeout } from './asking/call-timeout.ts';
import { type AskingCall, type AskPerson, elicit } from './asking/elicitation.ts';
import { type ListedTool, listedTool, type SetAside } from './listed-tool.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { asMcpError, isLost, McpError } from './mcp-error.ts';
import { type ConnectionPlace, type Opened, openServer, START_SECONDS } from './open-server.ts';
import { givenAnswer } from './wire/lenient-answers.ts';

const PAGES_MAX = 100;
const TOOLS_MAX = 2_000;
/** Maximum time for the tools of a server that does not say that it has any. */
const UNTOLD_MS = 3_000;
/** Minimum time between two live lines of progress. */
const PROGRESS_MS = 250;
/** Timeout for the library, which must never fire: only the call's `CallTimeout` ends a call. */
const NO_LIMIT_MS = 2_000_000_000;
/** Interval at which a server that asks is told that its question is still open. */
const STILL_ASKING_MS = 10_000;

export interface Listing {
  readonly tools: readonly ListedTool[];
  readonly aside: readonly SetAside[];
}

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
  /** What the server says of its use, for models: untrusted. */
  readonly instructions: string;
  /** Resolves to how the connection ended, once it has. Never rejects. */
  readonly gone: Promise<string>;
  readonly #client: Client;
  readonly #call_ms: number;
  readonly #list_ms: number;
  readonly #over_http: boolean;
  /** Ends the connection; resolves to how it ended. */
  readonly stop: (why: string) => Promise<string>;
  readonly #name: string;
  readonly #running: Set<AskingCall>;
  readonly #onRefused: (method: string) => void;
  #over: string | null = null;

  private constructor(
    name: string,
    { client, gone, stop }: Opened,
    config: McpServerConfig,
    running: Set<AskingCall>,
    onRefused: (method: string) => void,
  ) {
    this.#name = name;
    this.#onRefused = onRefused;
    this.#running = running;
    this.#client = client;
    this.#over_http = config.url !== undefined;
    this.#call_ms = (config.timeoutSeconds ?? CALL_SECONDS) * 1000;
    // The list of tools belongs to the start, however short a call may be.
    this.#list_ms = Math.max(this.#call_ms, (config.startTimeoutSeconds ?? START_SECONDS) * 1000);
    this.stop = stop;
    const said = client.getServerVersion();
    this.about = clean(`${said?.name ?? ''} ${said?.version ?? ''}`).slice(0, 100);
    this.version = client.getNegotiatedProtocolVersion() ?? '';
    this.instructions = client.getInstructions() ?? '';
    this.gone = gone;
    void gone.then((how) => {
      this.#over = how;
    });
  }

  /** Starts the server and initializes the protocol. `onChanged` is called when the server's tools have changed, `onRefused` when it asked for something that is not supported. */
  static async open(
    name: string,
    config: McpServerConfig,
    place: ConnectionPlace,
    signal: AbortSignal,
    onChanged: () => void,
    onRefused: (method: string) => void,
  ): Promise<ServerConnection> {
    const running = new Set<AskingCall>();
    const onAsked = (params: unknown, context: ClientContext) => askNewest(name, params, running, context);
    const opened = await openServer(config, place, signal, { onChanged, onAsked, onRefused });
    return new ServerConnection(name, opened, config, running, onRefused);
  }

  get tellsChanges(): boolean {
    return this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  /** The server's tools, in its order, and those that cannot be offered to a model. A page that cannot be read costs only itself. */
  async tools(signal: AbortSignal): Promise<Listing> {
    const found = new Map<string, ListedTool>();
    const aside: SetAside[] = [];
    const has_headers = this.#over_http && this.version >= '2026-07-28';
    let cursor: string | undefined;
    // Some servers have tools without saying so, and some without any do not answer.
    const told = this.#client.getServerCapabilities()?.tools !== undefined;
    const timeout = told ? this.#list_ms : UNTOLD_MS;
    for (let page = 1, seen = 0; ; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const asked = { method: 'tools/list', params } as const;
      const answer = await this.#ask(() => this.#client.request(asked, { signal, timeout }), timeout).catch(
        (error: McpError) => {
          if (!told) return {};
          if (page === 1 || signal.aborted) throw error;
          aside.push({ name: `tools from number ${seen + 1} on`, why: error.message });
          return {};
        },
      );
      const { tools, nextCursor } = givenAnswer(answer);
      for (const tool of Array.isArray(tools) ? tools : []) {
        const listed = listedTool(tool, seen, has_headers);
        seen += 1;
        if ('why' in listed) aside.push(listed);
        else if (found.has(listed.name)) aside.push({ name: listed.name, why: 'another tool has this name' });
        else found.set(listed.name, listed);
        if (found.size >= TOOLS_MAX) return { tools: [...found.values()], aside };
      }
      if (!nextCursor || typeof nextCursor !== 'string' || nextCursor === cursor || page >= PAGES_MAX)
        return { tools: [...found.values()], aside };
      cursor = nextCursor;
    }
  }

  /** What the server lists for people; nothing if it does not say that it has any. */
  async listed(kind: 'prompts' | 'resources', signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.#client.getServerCapabilities()?.[kind] === undefined) return [];
    const found: unknown[] = [];
    let cursor: unknown;
    for (let page = 1; page <= PAGES_MAX && found.length < TOOLS_MAX; page += 1) {
      const answer = await this.fetched(`${kind}/list`, typeof cursor === 'string' ? { cursor } : {}, signal);
      found.push(...itemsOf(answer[kind]));
      if (!answer.nextCursor || answer.nextCursor === cursor) break;
      cursor = answer.nextCursor;
    }
    return found.slice(0, TOOLS_MAX);
  }

  /** Makes one request about prompts or resources. */
  async fetched(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const request = { method, params } as { method: 'prompts/list' };
    return givenAnswer(
      await this.#ask(() => this.#client.request(request, { signal, timeout: this.#call_ms })),
    );
  }

  /** Runs a tool. Progress goes to `onProgress` and restarts the clock, which stops while a person is asked; the server is told of an abort. */
  async call(
    tool: ListedTool,
    input: Record<string, unknown>,
    { signal, onProgress, ask, caller = '' }: CallWatch,
  ): Promise<JsonObject> {
    let told = Number.NEGATIVE_INFINITY;
    const patience = new CallTimeout(this.#call_ms, signal);
    const about = `${caller === '' ? '' : `${caller}: `}${tool.name}`;
    const asking: AskingCall = { about, input: JSON.stringify(input), patience, ask };
    this.#running.add(asking);
    try {
      const options: Parameters<typeof callInRounds>[2] = {
        signal: patience.signal,
        timeout: NO_LIMIT_MS,
        toolDefinition: {
          name: tool.name,
          inputSchema: (tool.own_input ?? tool.input) as { type: 'object' },
        },
        onprogress: ({ progress, total, message }) => {
          patience.progressed();
          if (performance.now() - told < PROGRESS_MS) return;
          told = performance.now();
          const share = total === undefined ? String(progress) : `${progress} of ${total}`;
          onProgress(`${share}${message === undefined ? '' : ` ${clean(message).slice(0, 500)}`}\n`);
        },
      };
      const answer = await this.#ask(() =>
        callInRounds(this.#client, { name: tool.name, arguments: input }, options, (method, params) => {
          if (method === 'elicitation/create') return elicit(this.#name, params, asking, [], patience.signal);
          this.#onRefused(method);
          throw new McpError(`asked for ${method}, which is not supported`);
        }),
      );
      return givenAnswer(answer);
    } finally {
      this.#running.delete(asking);
      patience.end();
    }
  }

  async #ask<Answer>(request: () => Promise<Answer>, limit_ms = this.#call_ms): Promise<Answer> {
    if (this.#over !== null) throw new McpError(this.#over);
    try {
      return await request();
    } catch (error) {
      if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
        throw new McpError(await this.gone, true);
      if (error instanceof MissingRequiredClientCapabilityError)
        this.#onRefused(Object.keys(fieldsOf(error.requiredCapabilities)).join(' and ') || 'more');
      // The next use opens a new connection, with a session of its own.
      if (isLost(error)) void this.stop('it could not be reached');
      throw asMcpError(error, limit_ms);
    }
  }
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

/** Maximum times that one call may ask for input. */
const ROUNDS_MAX = 20;
/** Delay before a call is repeated for which the server requested no input. */
const PAUSE_MS = 500;

type Params = Parameters<Client['callTool']>[0];
type Options = NonNullable<Parameters<Client['callTool']>[1]>;

/**
 * Makes a call of version 2026-07-28: the server answers with requests for input, and is called again with the responses and its own state until it has a
 * result. It does not begin before it has all input, so nothing is done twice.
 */
async function callInRounds(
  client: Client,
  params: Params,
  options: Options & { readonly signal: AbortSignal },
  ask: (method: string, params: unknown) => Promise<ElicitResult>,
): Promise<CallToolResult> {
  let given: object = {};
  for (let round = 1; ; round += 1) {
    const answer: unknown = await client.callTool(
      { ...params, ...given },
      { ...options, allowInputRequired: true },
    );
    if (!isInputRequiredResult(answer)) return answer as CallToolResult;
    if (round > ROUNDS_MAX) throw new McpError(`requested input more than ${ROUNDS_MAX} times`);
    const { inputRequests = {}, requestState } = answer as {
      readonly inputRequests?: Readonly<Record<string, unknown>>;
      readonly requestState?: string;
    };
    const responses: Record<string, ElicitResult> = {};
    // One after the other, because a person answers them.
    for (const [key, request] of Object.entries(inputRequests)) {
      const { method, params: asked } = fieldsOf(request);
      responses[key] = await ask(clean(String(method)).slice(0, 100), asked);
    }
    const keys = Object.keys(responses).length;
    if (keys === 0) await sleep(PAUSE_MS, undefined, { signal: options.signal }).catch(() => undefined);
    given = {
      ...(keys > 0 && { inputResponses: responses }),
      ...(requestState !== undefined && { requestState }),
    };
  }
}
