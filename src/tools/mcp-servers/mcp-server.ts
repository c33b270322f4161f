import { keptIn } from '../../records/kept-in.ts';
import type { JsonObject } from '../../records/text/json-text.ts';
import { unlessAborted } from '../../records/unless-aborted.ts';
import { clean } from '../../render/clean.ts';
import type { ListedTool, SetAside } from './listed-tool.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { McpError, NeedsLogin, SessionLost } from './mcp-error.ts';
import type { ConnectionPlace } from './open-server.ts';
import { type CallWatch, type Listing, ServerConnection } from './server-connection.ts';

/** Time after which an unused server is stopped; it is started again when needed. */
const IDLE_MS = 10 * 60_000;
/** Maximum time that agents wait for a server that starts; then they begin without it. */
const PATIENCE_MS = 8_000;
/** Maximum kinds of refused requests that people are told of. */
const REFUSALS_MAX = 10;
/** Back-off after failed starts: doubled each time, up to the maximum. */
const BACK_OFF = { first_ms: 1_000, most_ms: 60_000 };

/** One server for the agents that share it: started on first use, and again after it has ended. All methods reject with an McpError. */
export class McpServer {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #place: ConnectionPlace;
  readonly #closed = new AbortController();
  #opening: Promise<ServerConnection> | null = null;
  #listing: Listing = { tools: [], aside: [] };
  /** Whether it says when its tools change. */
  tells_changes = false;
  /** Resolves once an agent has waited long enough for the present start. */
  #patience: Promise<unknown> = Promise.resolve();
  /** Whether it has answered since it was last started. */
  has_answered = false;
  /** Number of failed starts in a row. */
  #failures = 0;
  #failed_at = 0;
  #why = '';
  #in_use = 0;
  /** What it asked for in vain, of which people have not been told. */
  readonly #refused = new Map<string, 'new' | 'told'>();
  #instructions: string | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closing: Promise<void> | null = null;
  /** With `perAgent`: the agent that this instance serves, and the instances of the other agents. */
  #owner: string | null = null;
  readonly #others = new Map<string, McpServer>();

  constructor(name: string, config: McpServerConfig, place: ConnectionPlace) {
    this.name = name;
    this.#config = config;
    this.#place = place;
  }

  /** The tools that the server offered when it was last asked. */
  get listed(): readonly ListedTool[] {
    return this.#listing.tools;
  }

  /** The tools that it listed and that cannot be offered to models. */
  get aside(): readonly SetAside[] {
    return this.#listing.aside;
  }

  /** The tools that the server offers now; starts it if necessary. */
  async tools(): Promise<readonly ListedTool[]> {
    return this.#using(async () => {
      await this.#known();
      return this.listed;
    });
  }

  /** Starts the server if necessary; resolves to whether its tools are known, at the latest when it has had some time: the start goes on. */
  async isReady(): Promise<boolean> {
    const ready = this.tools();
    ready.catch(() => undefined);
    await Promise.race([ready, ...(this.has_answered ? [] : [this.#patience])]);
    return this.has_answered;
  }

  /** Whether the server was started and has not ended since. */
  get isRunning(): boolean {
    return this.#opening !== null || [...this.#others.values()].some((other) => other.isRunning);
  }

  /** What it said of its use when it was first started: once for a tree, so that prompts stay the same. */
  get instructions(): string {
    return this.#instructions ?? '';
  }

  /** Sentences for people about requests of the server that were refused; each only once. */
  takeRefusals(): readonly string[] {
    const fresh = [...this.#refused].flatMap(([method, state]) => (state === 'new' ? [method] : []));
    for (const method of fresh) this.#refused.set(method, 'told');
    return fresh.map(
      (method) =>
        `the MCP server ${this.name} asked for ${method}, which Coppice does not support: it was refused`,
    );
  }

  /** The instance for this agent: this one, unless each agent has its own. The first agent gets this one, which was started to list the tools. */
  for(agent_id: string): McpServer {
    if (this.#config.perAgent !== true) return this;
    this.#owner ??= agent_id;
    if (this.#owner === agent_id) return this;
    return keptIn(this.#others, agent_id, () => {
      for (const [id, one] of this.#others) if (!one.isRunning) this.#others.delete(id);
      return new McpServer(this.name, this.#config, this.#place);
    });
  }

  /** The connection, with the server's name and protocol version; starts the server if necessary. */
  async greeting(): Promise<ServerConnection> {
    return this.#known();
  }

  /** Uses the connection; starts the server if necessary. */
  use<Answer>(work: (connection: ServerConnection, signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    return this.#using(async () => work(await this.#known(), this.#closed.signal));
  }

  call(tool: ListedTool, input: Record<string, unknown>, watch: CallWatch): Promise<JsonObject> {
    return this.#using(async () => {
      for (let tries = 1; ; tries += 1) {
        const connection = await unlessAborted(this.#known(), watch.signal, notAsked);
        try {
          return await connection.call(tool, input, watch);
        } catch (error) {
          if (!(error instanceof SessionLost) || tries > 1) throw error;
          await connection.gone;
        }
      }
    });
  }

  async #using<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#in_use += 1;
    clearTimeout(this.#idle);
    try {
      return await work();
    } finally {
      this.#in_use -= 1;
      if (this.#in_use === 0) this.#idle = setTimeout(() => void this.#rest(), IDLE_MS).unref();
    }
  }

  async #rest(): Promise<void> {
    const opened = await this.#opening?.catch(() => null);
    if (this.#in_use === 0) await opened?.stop('nobody used it');
  }

  #known(): Promise<ServerConnection> {
    if (this.#closing !== null) return Promise.reject(new McpError('was closed'));
    if (this.#opening !== null) return this.#opening;
    const pause = Math.min(BACK_OFF.most_ms, BACK_OFF.first_ms * 2 ** (this.#failures - 1));
    const left = this.#failures === 0 ? 0 : this.#failed_at + pause - performance.now();
    if (left > 0)
      return Promise.reject(
        new McpError(`${this.#why} (the next attempt is possible in ${Math.ceil(left / 1000)} s)`),
      );
    return this.#begin(this.#open());
  }

  #begin(opening: Promise<ServerConnection>): Promise<ServerConnection> {
    this.#opening = opening;
    this.has_answered = false;
    this.#patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
    const over = () => {
      if (this.#opening === opening) this.#opening = null;
    };
    opening.then(
      (connection) => {
        this.#failures = 0;
        this.has_answered = true;
        void connection.gone.then(over);
      },
      (error: Error) => {
        this.#failures += 1;
        this.#failed_at = performance.now();
        this.#why = error.message;
        over();
      },
    );
    return opening;
  }

  async #open(): Promise<ServerConnection> {
    const { signal } = this.#closed;
    let changed = false;
    let read = false;
    const onChanged = () => {
      changed = true;
      if (read) void this.#reread(connection);
    };
    const onRefused = (asked: string) => {
      const method = clean(asked).slice(0, 100);
      if (!this.#refused.has(method) && this.#refused.size < REFUSALS_MAX) this.#refused.set(method, 'new');
    };
    const connection: ServerConnection = await ServerConnection.open(
      ...([this.name, this.#config, this.#place, signal, onChanged, onRefused] as const),
    ).catch((error: unknown) => {
      if (!(error instanceof NeedsLogin)) throw error;
      throw new McpError(`${error.message}: coppice mcp login ${this.name}`);
    });
    try {
      do {
        changed = false;
        this.#take(await connection.tools(signal));
      } while (changed);
      read = true;
      this.#instructions ??= connection.instructions;
      this.tells_changes = connection.tellsChanges;
      return connection;
    } catch (error) {
      await connection.stop('its tools could not be read');
      throw error;
    }
  }

  /** Reads the changed tools. If that fails, the previous ones stay: a call will show what is wrong. */
  async #reread(connection: ServerConnection): Promise<void> {
    this.#take(await connection.tools(this.#closed.signal).catch(() => this.#listing));
  }

  #take(listing: Listing): void {
    this.#listing = listing;
    this.#place.onAside?.(this.name, this.#config, listing.aside);
  }

  /** Stops the server. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearTimeout(this.#idle);
      this.#closed.abort();
      const others = [...this.#others.values()].map((other) => other.close());
      const opened = await this.#opening?.catch(() => null);
      await Promise.all([opened?.stop('it was closed'), ...others]);
    })();
    return this.#closing;
  }
}

function notAsked(): never {
  throw new McpError('was not asked: cancelled');
}
