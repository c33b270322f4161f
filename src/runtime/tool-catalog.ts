import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ReadTools } from '../kernel/reading/read-answer.ts';
import { NOT_OF_TASKS } from '../kernel/toolsets/acts/child-config.ts';
import { ALL_TOOLSETS } from '../kernel/toolsets/all-toolsets.ts';
import { submitToolset } from '../kernel/toolsets/fanout.ts';
import { clientToolset } from '../kernel/toolsets/mcp-client.ts';
import { OfferedSpecs } from '../kernel/toolsets/offered-spec.ts';
import type { Toolset, ToolsetTool } from '../kernel/toolsets/toolset.ts';
import type { ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import { workflowRunToolset } from '../kernel/toolsets/workflow/workflow-run.ts';
import type { TransitionContext } from '../kernel/transition/transition-result.ts';
import type { Arguments } from '../kernel/turn/view.ts';
import {
  type Agent,
  type AgentConfig,
  isAgentProgram,
  isSubAgent,
  mustSubmit,
  resultSchema,
  systemText,
  type Tree,
} from '../records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../records/agent/limits.ts';
import type { Call } from '../records/agent/state.ts';
import type { Worktree } from '../records/agent/task-terms.ts';
import { keptIn } from '../records/kept-in.ts';
import type { ServerOffers } from '../records/server-offers.ts';
import { isServerTool } from '../records/server-tools.ts';
import { parseJson } from '../records/text/json-text.ts';
import type { ServerTools, Tool, ToolServers, ToolSpec } from '../records/tool.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** Within this time, a folder is not looked at again for the repository that it is in. */
const REPOSITORY_MS = 100;

interface CatalogOptions extends Pick<RuntimeOptions, 'tools' | 'toolsets' | 'openServers' | 'workflows'> {
  readonly terms: ToolsetTerms;
  /** Available to every agent; described to its model once history was cut (`cut_specs`). */
  readonly recall: Tool;
}

/** System text and tools that follow from a configuration. Agents with the same configuration share them, so that their prompts are identical. */
interface AgentSetup {
  readonly system: string;
  /** What its model is sent, sorted by name; includes tools of toolsets, which follow the arguments of `sentTools`. */
  readonly specs: (limited: boolean, cut: boolean) => readonly ToolSpec[];
  /** A tool as it would be sent. */
  readonly offered: (spec: ToolSpec, limited: boolean) => ToolSpec;
  readonly tools: ReadonlyMap<string, Tool>;
  /** All tools of its toolsets, including those hidden from its model. */
  readonly toolset_tools: ReadonlyMap<string, ToolsetTool>;
  /** Finds any tool of its MCP servers, including those not described in `specs`. */
  readonly findTool: (name: string) => Tool | undefined;
  /** How its calls are read (docs/tool-calls.md). */
  readonly read: ReadTools;
  /** Whether letters arrive as a notice and are read with a command (docs/vocabularies.md). */
  readonly notices: boolean;
}

/** The tools and toolsets of a runtime, and which of them each agent gets. */
export class ToolCatalog {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #toolsets: ReadonlyMap<string, Toolset>;
  readonly #recall: Tool;
  readonly #offered: OfferedSpecs;
  readonly #setups = new WeakMap<AgentConfig, AgentSetup>();
  readonly #repositories = new Map<string, boolean>();
  readonly #openServers: CatalogOptions['openServers'];
  readonly #workflows: CatalogOptions['workflows'];
  #servers: Promise<ToolServers> | undefined;
  readonly #offers = new WeakMap<AgentConfig, Promise<ServerTools>>();

  readonly terms: ToolsetTerms;
  readonly argumentsOf = callArguments();

  constructor({ tools, toolsets = ALL_TOOLSETS, terms, recall, openServers, workflows }: CatalogOptions) {
    this.#workflows = workflows;
    this.#recall = recall;
    this.#openServers = openServers;
    this.#offered = new OfferedSpecs(terms);
    this.terms = terms;
    this.#tools = new Map(tools.map((tool) => [tool.spec.name, tool]));
    this.#toolsets = new Map(toolsets.map((toolset) => [toolset.name, toolset]));
  }

  unknownNames(config: AgentConfig) {
    return {
      tools: config.tools.filter((name) => !this.#tools.has(name) && !isServerTool(name)),
      toolsets: config.toolsets.filter((name) => !this.#toolsets.has(name)),
    };
  }

  get toolNames(): readonly string[] {
    return [...this.#tools.keys()];
  }

  get toolsetNames(): readonly string[] {
    return [...this.#toolsets.keys()];
  }

  /**
   * Asks the MCP servers of an agent for their tools, once per configuration, so that its model sees the same tools as
   * long as this process leads it. Resolves to notices for people, for the first caller only; null if it has none. Never rejects.
   */
  prepare(agent: Pick<Agent, 'root_id' | 'config'>): Promise<readonly string[]> | null {
    return this.#openServers === undefined || !this.#hasServers(agent.config)
      ? null
      : this.#askServers(agent, this.#openServers);
  }

  #hasServers({ client, workflow, model, tools }: AgentConfig): boolean {
    const is_outside = client !== undefined || workflow !== undefined || isAgentProgram(model);
    return !is_outside && tools.some((name) => isServerTool(name) && !this.#tools.has(name));
  }

  #open(openServers: NonNullable<CatalogOptions['openServers']>): Promise<ToolServers> {
    this.#servers ??= openServers();
    // It may succeed with the next request.
    this.#servers.catch(() => {
      this.#servers = undefined;
    });
    return this.#servers;
  }

  /** What the MCP servers of an agent offer to people; null if it has none. */
  async offers(agent: Pick<Agent, 'root_id' | 'config'>): Promise<ServerOffers | null> {
    if (this.#openServers === undefined || !this.#hasServers(agent.config)) return null;
    return (await this.#open(this.#openServers)).offers(agent);
  }

  async #askServers(
    agent: Pick<Agent, 'root_id' | 'config'>,
    openServers: NonNullable<CatalogOptions['openServers']>,
  ): Promise<readonly string[]> {
    const { config } = agent;
    const known = this.#offers.get(config);
    if (known !== undefined) {
      await known.catch(() => undefined);
      return [];
    }
    const offering = this.#open(openServers).then((servers) => servers.offer(agent));
    this.#offers.set(config, offering);
    // Failures are not cached: the next request tries again.
    offering.catch(() => this.#offers.delete(config));
    try {
      const offer = await offering;
      this.#setups.set(config, this.#build(config, offer));
      return offer.faults;
    } catch (error) {
      return [`no MCP server can be used: ${(error as Error).message}`];
    }
  }

  setupFor(config: AgentConfig): AgentSetup {
    return keptIn(this.#setups, config, () => this.#build(config));
  }

  #build(config: AgentConfig, offer?: ServerTools): AgentSetup {
    // Agent programs have their own tools: they get none of the catalog's, and their letters in full.
    const is_outside =
      config.client !== undefined || config.workflow !== undefined || isAgentProgram(config.model);
    const own = is_outside ? { tools: [], toolsets: [] } : config;
    const asking = config.workflow?.ask === undefined ? undefined : this.#workflows?.ask;
    const tools = [
      ...(asking === undefined ? [] : [asking]),
      ...own.tools.flatMap((name) => this.#tools.get(name) ?? []),
      ...(offer?.tools ?? []),
    ];
    const recall = this.#tools.get(this.#recall.spec.name) ?? this.#recall;
    const toolsets =
      config.workflow !== undefined
        ? [workflowRunToolset]
        : config.client === undefined
          ? [
              ...own.toolsets.flatMap((name) => this.#toolsets.get(name) ?? []),
              ...(config.output === undefined || config.toolsets.includes('fanout') ? [] : [submitToolset]),
            ]
          : [clientToolset];
    const toolset_tools = toolsets.flatMap((toolset) => toolset.tools);
    // What a forked agent of a workflow is sent equals what the conversation's owner is sent, so that both share the cached prefix.
    const forked = config.task?.workflow?.forked === true;
    const { task: _, ...untasked } = config;
    const told: AgentConfig = forked ? untasked : config;
    const isTold = ({ audience }: Pick<ToolsetTool, 'audience'>) =>
      audience === undefined || audience(told, this.terms) || audience(config, this.terms);
    const seen = toolset_tools.filter(isTold);
    const sent = tools.filter((tool) => tool.audience?.(config) ?? true);
    const offered = (spec: ToolSpec, limited: boolean) => {
      const in_repository = seen.length > 0 && this.#inRepository(config.cwd);
      return this.#offered.specFor(spec, { config: told, limited, in_repository });
    };
    const known = new Map<string, readonly ToolSpec[]>();
    const specs = (limited: boolean, cut: boolean) =>
      keptIn(known, `${limited} ${cut}`, (): readonly ToolSpec[] => {
        const acting = seen.map(({ spec }) => offered(spec, limited));
        const others = [...sent, ...(cut && !tools.includes(recall) ? [recall] : [])].map(({ spec }) =>
          /^(cron|patch)$/.test(spec.name) ? offered(spec, limited) : spec,
        );
        return [...acting, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1));
      });
    // A sub-agent gets its instructions with its task, not the guidance on working with other agents.
    const guides = isSubAgent(told)
      ? []
      : toolsets.filter(({ name }) => told.task === undefined || name !== 'sessions');
    const callable = forked ? tools.filter(({ spec }) => !NOT_OF_TASKS.includes(spec.name)) : tools;
    const by_name = new Map([recall, ...callable].map((tool) => [tool.spec.name, tool]));
    const of_toolsets = new Map(toolset_tools.map((tool) => [tool.spec.name, tool]));
    const findTool = (name: string) => offer?.find(name);
    return {
      system: [systemText(config), ...guides.map((toolset) => toolset.guidance), offer?.note ?? '']
        .filter((text) => text !== '')
        .join('\n\n'),
      specs,
      offered,
      tools: by_name,
      findTool,
      toolset_tools: of_toolsets,
      read: {
        names: [...new Set([...seen, ...sent, recall].map(({ spec }) => spec.name))],
        find: (name) => {
          const acting = of_toolsets.get(name);
          if (acting !== undefined) {
            const input = this.#offered.schemaForReading(acting.spec);
            return { name, input, own: true, fits: acting.fits };
          }
          const tool = by_name.get(name) ?? findTool(name);
          if (tool === undefined) return undefined;
          const { own = false, spec } = tool;
          return { name, input: spec.input, own, fits: (input) => tool.parse(input).ok };
        },
      },
      notices: toolsets.some((toolset) => toolset.letters === 'notice'),
    };
  }

  /** Looked up once for all agents that begin soon after each other. */
  #inRepository(folder: string): boolean {
    return keptIn(this.#repositories, folder, () => {
      setTimeout(() => this.#repositories.delete(folder), REPOSITORY_MS).unref();
      return inRepository(folder);
    });
  }

  /** Stops the MCP servers. Never rejects. */
  async close(): Promise<void> {
    await (await this.#servers?.catch(() => undefined))?.close();
  }

  /** The tools of a request: the same array until a person limits the tree, or history is cut, which makes the cached prefix useless anyway. */
  sentTools({ config }: Agent, tree: Tree | undefined, cut: boolean): readonly ToolSpec[] {
    return this.setupFor(config).specs(isLimited(config, tree), cut);
  }

  /** The tool as the agent's model is sent it, or would be. */
  sentSpec(agent: Agent, tree: Tree | undefined, spec: ToolSpec): ToolSpec {
    const sent = this.sentTools(agent, tree, false).find(({ name }) => name === spec.name);
    return sent ?? this.setupFor(agent.config).offered(spec, isLimited(agent.config, tree));
  }

  toolsetTool(config: AgentConfig, name: string): ToolsetTool | undefined {
    return this.setupFor(config).toolset_tools.get(name);
  }

  contextOf(agent: Agent, tree: Tree | undefined): TransitionContext {
    const worktree = agent.config.task?.worktree ?? null;
    const reports = agent.origin !== 'root' && agent.origin !== 'fork';
    return {
      reports,
      submits: mustSubmit(agent),
      checked: resultSchema(agent.config) !== null,
      require: agent.config.require ?? [],
      last_counts: agent.origin === 'delegate' && !isAgentProgram(agent.config.model),
      turns: Math.min(
        agent.config.turns ?? Number.POSITIVE_INFINITY,
        agent.config.workflow === undefined
          ? (tree?.limits.turns ?? DEFAULT_LIMITS.turns)
          : Number.POSITIVE_INFINITY,
      ),
      ...(worktree === null ? {} : { leaves: unsavedWork(worktree) }),
    };
  }
}

/** Whether somebody limited what the agent may spend. */
function isLimited({ budgets }: AgentConfig, tree: Tree | undefined): boolean {
  const { usual = false, tokens = null, cost_usd = null } = tree?.limits ?? {};
  return budgets !== undefined || (!usual && (tokens ?? cost_usd) !== null);
}

/** Text about the worktree of a stopped agent: its folder is left as it is. */
function unsavedWork({ branch, path }: Worktree): string {
  return `[worktree] branch ${branch}; what was not committed is in ${path}`;
}

/** Returns a parser that caches the arguments of each call: deciding, running and describing the call all need them. */
export function callArguments(): (call: Call) => Arguments {
  const known = new WeakMap<Call, Arguments>();
  return (call) => keptIn(known, call, parseArguments);
}

/** Empty text counts as no arguments: providers send it. */
function parseArguments({ name, input }: Call): Arguments {
  if (input.trim() === '') return { ok: true, input: {} };
  const json = parseJson(input);
  return json.ok
    ? { ok: true, input: json.value }
    : { ok: false, error: `the arguments of ${name} are not valid JSON: ${json.error}` };
}

/** Whether the folder seems to be in a git repository with a commit; git itself decides when a worktree is made. */
function inRepository(folder: string): boolean {
  const link = join(folder, '.git');
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found === undefined) return dirname(folder) !== folder && inRepository(dirname(folder));
  // In linked worktrees and submodules it is a file.
  return !found.isDirectory() || ['logs/HEAD', 'packed-refs'].some((name) => existsSync(join(link, name)));
}
