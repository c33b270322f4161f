import { type CallToolResult, type Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { clean } from '../../render/clean.ts';
import { type ListedTool, listedTool } from './listed-tool.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { asMcpError, isLost, McpError } from './mcp-error.ts';
import { type ConnectionPlace, type Opened, openServer } from './open-server.ts';

const CALL_SECONDS = 120;
const PAGES_MAX = 100;
const TOOLS_MAX = 2_000;
/** Between two live lines of progress. */
const PROGRESS_MS = 250;

/** A server that has been greeted. All methods reject with an McpError. */
export class ServerConnection {
  /** What the server says of itself, on one line. */
  readonly about: string;
  readonly version: string;
  /** Resolves when it is gone, with how. Never rejects. */
  readonly gone: Promise<string>;
  readonly #client: Client;
  readonly #call_ms: number;
  readonly #stop: (why: string) => Promise<string>;
  #over: string | null = null;

  private constructor({ client, gone, stop }: Opened, config: McpServerConfig) {
    this.#client = client;
    this.#call_ms = (config.timeoutSeconds ?? CALL_SECONDS) * 1000;
    this.#stop = stop;
    const { name = '', version = '' } = client.getServerVersion() ?? {};
    this.about = clean(`${name} ${version}`).slice(0, 100);
    this.version = client.getNegotiatedProtocolVersion() ?? '';
    this.gone = gone;
    void gone.then((how) => {
      this.#over = how;
    });
  }

  /** Starts and greets it. `onChanged`: its tools are others now. */
  static async open(
    config: McpServerConfig,
    place: ConnectionPlace,
    signal: AbortSignal,
    onChanged: () => void,
  ): Promise<ServerConnection> {
    return new ServerConnection(await openServer(config, place, signal, onChanged), config);
  }

  /** Whether it tells when its tools change. */
  get tellsChanges(): boolean {
    return this.#client.getServerCapabilities()?.tools?.listChanged === true;
  }

  /** Its tools, in its order, without those that no model could be told of. */
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

  /** Runs a tool. Progress is told to `onProgress` and gives it time; an abort is told to the server. */
  call(
    tool: ListedTool,
    input: Record<string, unknown>,
    signal: AbortSignal,
    onProgress: (text: string) => void,
  ): Promise<CallToolResult> {
    let told = Number.NEGATIVE_INFINITY;
    return this.#ask(() =>
      this.#client.callTool(
        { name: tool.name, arguments: input },
        {
          signal,
          timeout: this.#call_ms,
          resetTimeoutOnProgress: true,
          toolDefinition: { name: tool.name, inputSchema: tool.input as { type: 'object' } },
          onprogress: ({ progress, total, message }) => {
            if (performance.now() - told < PROGRESS_MS) return;
            told = performance.now();
            const share = total === undefined ? String(progress) : `${progress} of ${total}`;
            onProgress(`${share}${message === undefined ? '' : ` ${clean(message).slice(0, 500)}`}\n`);
          },
        },
      ),
    );
  }

  async #ask<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    if (this.#over !== null) throw new McpError(this.#over);
    try {
      return await request();
    } catch (error) {
      if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
        throw new McpError(await this.gone, true);
      // An address is asked anew, with a session of its own.
      if (isLost(error)) void this.#stop('it could not be reached');
      throw asMcpError(error, this.#call_ms);
    }
  }

  stop(why: string): Promise<string> {
    return this.#stop(why);
  }
}
