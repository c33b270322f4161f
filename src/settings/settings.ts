import * as z from 'zod';
import { acpServerConfig } from '../models/agent-programs/acp-config.ts';
import { providerConfig } from '../models/provider/provider-config.ts';
import { commandLimits, folderName, hostName } from '../processes/sandbox/sandbox-needs.ts';
import { THINKING } from '../records/agent/agent.ts';
import { LIMIT_BOUNDS, type Limits } from '../records/agent/limits.ts';
import { ASKED_PARAMETERS } from '../records/agent/profile.ts';
import type { DeepReadonly } from '../records/deep-readonly.ts';
import { TIMEOUT_SECONDS_MAX } from '../records/text/parse-duration.ts';
import { hookSettings } from '../tools/hooks/hook-settings.ts';
import { mcpConfig } from '../tools/mcp-servers/mcp-config.ts';

/** Maximum number of pieces of evidence that a profile may require. */
export const REQUIRE_MAX = 8;
/** Modes of the sandbox for commands of agents (docs/sandbox.md). */
export const SANDBOX_MODES = ['off', 'workspace', 'strict'] as const;
/** Services that `web_search` can ask (docs/web.md). */
const SEARCH_SERVICES = ['brave', 'tavily', 'searxng'] as const;

const rules = z.array(z.string());

type LimitFields = { readonly [Name in keyof Limits]: z.ZodOptional<z.ZodType<Limits[Name]>> };

const limits = z.strictObject(
  Object.fromEntries(
    Object.entries(LIMIT_BOUNDS).map(([name, { least, whole, unlimited }]) => {
      const number = (whole ? z.int() : z.number()).min(least);
      return [name, (unlimited ? number.nullable() : number).optional()];
    }),
  ) as unknown as LimitFields,
);

const parameters = z.array(z.enum(ASKED_PARAMETERS)).optional();

/** What `agents.defaults` says of all agents. */
export const agentSettings = z.strictObject({
  model: z.string().optional(),
  fallback: z.array(z.string()).optional(),
  thinking: z.enum(THINKING).optional(),
  toolsets: z.array(z.string()).optional(),
  tools: z.array(z.string()).optional(),
  system: z.string().optional(),
  instructions: z.boolean().optional(),
  skills: z.array(z.string()).optional(),
  limits: limits.optional(),
  permissions: z
    .strictObject({ allow: rules.optional(), ask: rules.optional(), deny: rules.optional() })
    .optional(),
  subagents: z
    .strictObject({
      allowAgents: z.array(z.string()).optional(),
      model: z.string().optional(),
      models: z.array(z.string().min(1)).optional(),
      maxConcurrent: z.int().positive().optional(),
      parameters,
    })
    .optional(),
});

/** What an agent may spend, with the agents below it (docs/budgets.md). */
export const budgetSettings = z.strictObject({
  tokens: z.int().positive().optional(),
  usd: z.number().positive().optional(),
  seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).optional(),
});

/** A named profile; `subagents` applies to all agents. */
export const namedProfile = agentSettings.omit({ subagents: true }).extend({
  description: z.string().optional(),
  deny_tools: z.array(z.string()).optional(),
  parameters,
  turns: z.int().min(1).optional(),
  require: z.array(z.string()).max(REQUIRE_MAX).optional(),
  timeout_seconds: z.number().positive().max(TIMEOUT_SECONDS_MAX).optional(),
  budget: budgetSettings.optional(),
});

const sandboxConfig = z.strictObject({
  /** Default `workspace`: write only the agent's folder, read all but home folders and secrets, no network. `strict`: read only that folder and the system. */
  mode: z.enum(SANDBOX_MODES).optional(),
  /** Further writable folders; `~/` is the home folder. */
  write: z.array(folderName).optional(),
  /** Further readable folders: in home folders, or with `strict` anywhere. */
  read: z.array(folderName).optional(),
  /** Further files and folders that no command may read. */
  hide: z.array(folderName).optional(),
  /** Files of the agent's folder that editors and tools run by themselves, and that agents may write all the same. */
  unprotect: z.array(z.string()).optional(),
  /** Hosts that commands may reach by HTTP and HTTPS: `example.com`, `*.example.com`, `*`; with `:PORT` only that port. */
  hosts: z.array(hostName).optional(),
  /** Whether commands may use Unix domain sockets. */
  sockets: z.boolean().optional(),
  /** Resource limits for the processes of one command, which also apply without a sandbox; null: no limit. */
  limits: commandLimits.optional(),
});

const privateHost = z
  .string()
  .regex(
    /^((\*\.)?[\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?$/,
    'must be a name, *.NAME or an address, and may end in :PORT',
  );

const webConfig = z.strictObject({
  /** Hosts that agents may access although they are this machine or in a private network; with `:PORT` only that port. */
  private_hosts: z.array(privateHost).optional(),
  /** Whether robots.txt is followed; true by default. */
  robots: z.boolean().optional(),
  /** The service that `web_search` uses; without it, there is no such tool. */
  search: z
    .strictObject({
      type: z.enum(SEARCH_SERVICES),
      baseURL: z.url({ protocol: /^https?$/, error: 'must be an address: https://…' }).optional(),
      apiKeyEnv: z.string().optional(),
    })
    .optional(),
});

export type SandboxConfig = DeepReadonly<z.infer<typeof sandboxConfig>>;

export type NamedProfile = DeepReadonly<z.infer<typeof namedProfile>>;

/**
 * Settings that the configuration file and `openCoppice` both take, with the same names and meaning. This folder holds their schema and checks, what is
 * derived from them, and the locations of configuration and data.
 */
export const settings = z.strictObject({
  model: z.string().optional(),
  database: z.string().optional(),
  /** Environment variables that tools may see beside the fixed allow-list. */
  env_allow: z.array(z.string()).optional(),
  /** The sandbox of agents' commands (docs/sandbox.md). */
  sandbox: sandboxConfig.optional(),
  /** What agents may do on the web (docs/web.md). */
  web: webConfig.optional(),
  /** Commands that run at points of an agent's work (docs/hooks.md). */
  agentHooks: hookSettings.optional(),
  providers: z.record(z.string(), providerConfig).optional(),
  /** Agent programs reached over ACP: models `acp:NAME`, and programs for `subagent_delegate` (docs/acp.md). */
  acp: z.record(z.string().regex(/^[\w.-]+$/), acpServerConfig).optional(),
  /** MCP servers whose tools agents may use (docs/mcp.md). */
  mcp: mcpConfig.optional(),
  agents: z.object({ defaults: agentSettings.optional() }).catchall(namedProfile).optional(),
  /** How conversations are kept within the windows of their models (docs/context.md). */
  context: z
    .strictObject({ share: z.number().min(0.1).max(0.95).optional(), model: z.string().optional() })
    .optional(),
  /** Maximum isolated runs that one process works on at once; more are queued. */
  runs: z
    .strictObject({
      maxConcurrent: z.int().positive().optional(),
      perSource: z
        .strictObject({
          cron: z.int().positive().optional(),
          subagent: z.int().positive().optional(),
          delegate: z.int().positive().optional(),
        })
        .optional(),
    })
    .optional(),
});

/** The index signature must cover every name; the schema refuses keys of `defaults` in other entries. */
type Agents = { readonly defaults?: DefaultAgent | undefined } & {
  readonly [name: string]: NamedProfile | DefaultAgent | undefined;
};
type DefaultAgent = DeepReadonly<z.infer<typeof agentSettings>>;

export type Settings = Omit<DeepReadonly<z.infer<typeof settings>>, 'agents'> & {
  readonly agents?: Agents | undefined;
};
