import type { Sandbox } from '../../processes/sandbox/sandbox.ts';
import type { Agent, AgentConfig } from '../../records/agent/agent.ts';
import { orElse } from '../../records/coppice-error.ts';
import type { ServerOffers } from '../../records/server-offers.ts';
import { hasServerTool, type ProjectServer, serverOf, serversOf } from '../../records/server-tools.ts';
import type { ServerTools, Tool, ToolServers } from '../../records/tool.ts';
import { instructionsOf, offersOf } from './asking/server-offers.ts';
import { DIRECT, FIND_TOOLS, searchTools } from './find-tools.ts';
import { type OnAside, setAsideTold } from './listed-tool.ts';
import { type McpConfig, type McpServerConfig, mcpServerConfig } from './mcp-config.ts';
import { McpServer } from './mcp-server.ts';
import { nameForModels } from './server-names.ts';
import { type ArgumentsFault, serverToolOf } from './server-tool.ts';
import { expandedConfig } from './server-variables.ts';

/** Number of servers above which those that are not running are forgotten. */
const SERVERS_KEPT = 256;
/** Number of things told after which all are forgotten, so that some may be told again. */
const TOLD_MAX = 10_000;
/** Maximum names that are listed when tools have changed. */
const NAMES_TOLD = 20;
/** The root's id before there is a tree. */
const NO_TREE = '';

export interface McpHostOptions {
  readonly config: McpConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder in which logins are kept. */
  readonly logins?: string;
  readonly onAside?: OnAside;
  /** Returns the sandbox for a server's program; null for none. */
  readonly sandboxFor: (name: string, config: McpServerConfig) => Sandbox | null;
  /** Says, for the model, how the arguments of a call violate the schema of its tool; null if they do not. Bounded for every schema. */
  readonly argumentsFault: ArgumentsFault;
}

/** The MCP servers of a runtime: each is shared by the agents of a tree that work in the same folder. */
export class McpHost implements ToolServers {
  readonly #options: McpHostOptions;
  readonly #servers = new Map<string, McpServer>();
  /** What people of each tree were told. */
  readonly #told = new Set<string>();

  constructor(options: McpHostOptions) {
    this.#options = options;
  }

  async offer(agent: Pick<Agent, 'root_id' | 'config'>): Promise<OfferedTools> {
    const { config, root_id } = agent;
    const asked = serversOf(config);
    const faults: string[] = [];
    const missing = new Map<string, string>();
    const servers: McpServer[] = [];
    const fault = (name: string, kind: string, text: string) => {
      const key = `${root_id} ${name} ${kind}`;
      if (!this.#told.has(key)) faults.push(text);
      if (this.#told.size > TOLD_MAX) this.#told.clear();
      this.#told.add(key);
    };
    const opened = asked.map(async (name) => {
      try {
        const server = this.#server(name, agent);
        if (server === null) throw new Error('is not configured here');
        servers.push(server);
        if (!(await server.isReady())) {
          missing.set(name, `it has not answered yet; ${FIND_TOOLS} finds them once it has`);
          fault(
            name,
            'late',
            `the MCP server ${name} has not answered yet: agents begin without it, its tools come when it does`,
          );
        }
        for (const refusal of server.takeRefusals()) fault(name, refusal, refusal);
        const aside = setAsideTold(name, server.aside);
        if (aside !== null) fault(name, aside, aside);
      } catch (error) {
        missing.set(name, 'it could not be used');
        fault(name, 'fault', `the MCP server ${name} ${(error as Error).message}`);
      }
    });
    await Promise.all(opened);
    servers.sort((one, other) => (one.name < other.name ? -1 : 1));
    return new OfferedTools(config, servers, missing, faults.sort(), this.#options);
  }

  async offers(agent: Pick<Agent, 'root_id' | 'config'>): Promise<ServerOffers> {
    const servers = serversOf(agent.config).flatMap((name) => {
      // One that cannot be used is told when its tools are asked for.
      return orElse(() => this.#server(name, agent), null) ?? [];
    });
    return offersOf(servers);
  }

  /** Returns null if there is no server of this name. */
  #server(name: string, { root_id, config }: Pick<Agent, 'root_id' | 'config'>): McpServer | null {
    const definition = this.#definition(name, config.mcp_servers ?? []);
    if (definition === null) return null;
    const keyIn = (tree: string) => JSON.stringify([name, tree, config.cwd, definition]);
    const key = keyIn(root_id);
    // A tree that begins takes the server over that its person has asked before.
    const asked = this.#servers.has(key) ? key : keyIn(NO_TREE);
    let server = this.#servers.get(asked);
    if (server !== undefined && this.#servers.delete(asked)) this.#servers.set(key, server);
    if (server === undefined) {
      const { env, sandboxFor, logins, onAside } = this.#options;
      const place = { cwd: config.cwd, env, sandbox: sandboxFor(name, definition), logins, onAside };
      server = new McpServer(name, definition, place);
      this.#servers.set(key, server);
      this.#forgetIdle();
    }
    return server;
  }

  /** Servers of finished trees are not needed any more; an agent that still has one starts it again. */
  #forgetIdle(): void {
    for (const [key, server] of this.#servers) {
      if (this.#servers.size <= SERVERS_KEPT) return;
      if (!server.isRunning) this.#servers.delete(key);
    }
  }

  /** The user's own servers take precedence. */
  #definition(name: string, brought: readonly ProjectServer[]): McpServerConfig | null {
    const own = this.#options.config.servers ?? {};
    if (Object.hasOwn(own, name)) return own[name] ?? null;
    const found = brought.find((one) => one.name === name);
    return found === undefined
      ? null
      : expandedConfig(mcpServerConfig.parse(found.definition), this.#options.env);
  }

  async close(): Promise<void> {
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    await Promise.all(servers.map((server) => server.close()));
  }
}

class OfferedTools implements ServerTools {
  readonly tools: readonly Tool[];
  readonly note: string;
  readonly faults: readonly string[];
  readonly #config: AgentConfig;
  readonly #servers: readonly McpServer[];
  readonly #fault: ArgumentsFault;
  /** The tool names that every agent knows at first: those at the time of the offer. */
  readonly #known: ReadonlySet<string>;
  readonly #told = new Map<string, ReadonlySet<string>>();

  constructor(
    config: AgentConfig,
    servers: readonly McpServer[],
    missing: ReadonlyMap<string, string>,
    faults: readonly string[],
    options: McpHostOptions,
  ) {
    this.#fault = options.argumentsFault;
    this.#config = config;
    this.#servers = servers;
    this.faults = faults;
    const absent = [...missing]
      .sort()
      .map(([name, why]) => `The tools of the MCP server ${name} are not available: ${why}.`);
    this.note = [...instructionsOf(servers), absent.join('\n')].filter((one) => one !== '').join('\n\n');
    const all = this.#all();
    this.#known = new Set(all.map(({ spec }) => spec.name));
    const described = all.length <= (options.config.direct ?? DIRECT) ? all : [];
    this.tools = [...described, ...this.#search(described, all, missing)];
  }

  /** No search is needed where every tool is described and none will change. */
  #search(
    described: readonly Tool[],
    all: readonly Tool[],
    missing: ReadonlyMap<string, string>,
  ): readonly Tool[] {
    const changing = this.#servers.some((server) => server.tells_changes);
    if (described.length === all.length && missing.size === 0 && !changing) return [];
    if (this.#servers.length === 0) return [];
    return searchTools({
      tools: () => this.#asked(),
      find: (name) => this.find(name),
      absent: () => this.#servers.filter(({ has_answered }) => !has_answered).map(({ name }) => name),
      servers: this.#servers.map(({ name }) => {
        const count = all.filter(({ spec }) => serverOf(spec.name) === name).length;
        return missing.has(name) ? name : `${name}: ${count} tools`;
      }),
    });
  }

  find(name: string): Tool | undefined {
    return this.#all().find(({ spec }) => spec.name === name);
  }

  /** All tools, after servers that have ended were started again. */
  async #asked(): Promise<readonly Tool[]> {
    await Promise.all(this.#servers.map((server) => server.isReady().catch(() => false)));
    return this.#all();
  }

  /** All tools, each once, sorted by name. */
  #all(): readonly Tool[] {
    const found = new Map<string, Tool>();
    for (const server of this.#servers)
      for (const listed of server.listed) {
        const name = nameForModels(server.name, listed.name);
        if (found.has(name) || !hasServerTool(this.#config, name)) continue;
        found.set(
          name,
          serverToolOf(server, listed, this.#fault, (agent_id) => this.#changes(agent_id)) as Tool,
        );
      }
    return [...found.values()].sort((one, other) => (one.spec.name < other.spec.name ? -1 : 1));
  }

  /** Changes since the agent was last told; null for none. Each change is told once. */
  #changes(agent_id: string): string | null {
    const before = this.#told.get(agent_id) ?? this.#known;
    const now = new Set(this.#all().map(({ spec }) => spec.name));
    this.#told.set(agent_id, now);
    const [added, gone] = [now.difference(before), before.difference(now)];
    if (added.size + gone.size === 0) return null;
    const parts = [
      ...(added.size === 0 ? [] : [`new: ${some(added)}`]),
      ...(gone.size === 0 ? [] : [`gone: ${some(gone)}`]),
    ];
    const how = added.size === 0 ? '' : '. Find what is new with find_tools, and call it with call_tool';
    return `the tools of the MCP servers have changed: ${parts.join('; ')}${how}.`;
  }
}

function some(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, NAMES_TOLD).join(', ');
  return names.size > NAMES_TOLD ? `${shown} and ${names.size - NAMES_TOLD} more` : shown;
}
