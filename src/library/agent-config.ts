import { ALL_TOOLSETS } from '../kernel/toolsets/all-toolsets.ts';
import { DEFAULT_TERMS, type ToolsetTerms } from '../kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../records/agent/agent.ts';
import type { BudgetTerms } from '../records/agent/budget.ts';
import { DEFAULT_LIMITS, type Limits } from '../records/agent/limits.ts';
import { BLANK_PROFILE, type Profile } from '../records/agent/profile.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { toolsOfServer } from '../records/server-tools.ts';
import { given } from '../records/text/json-fields.ts';
import type { Tool } from '../records/tool.ts';
import { rootConfig, rootLimits } from '../settings/root-config.ts';
import {
  checkNames,
  findProfile,
  profileNameFault,
  settingsProfiles,
  unknownAllowed,
} from '../settings/settings-profiles.ts';
import { subagentTerms } from '../settings/subagent-terms.ts';
import { BUILT_IN_PERMISSIONS, checkRules } from '../tools/built-in-permissions.ts';
import { freeTools } from '../tools/define-tool.ts';
import type { AgentOptions, NamedOptions } from './coppice-options.ts';
import type { SubagentTerms } from './subagents/subagent-options.ts';

const SYSTEM = 'You are an agent. Do what you are asked with the tools you have.';
const BUILT_IN = ['read', 'search', 'think'];

/** Sources of agents' configurations. `own`: the program's tools, which agents may use without approval. */
export interface AgentSources {
  readonly options: NamedOptions;
  readonly own: readonly Tool[];
  readonly subagents: SubagentTerms | null;
  readonly profiles: ReadonlyMap<string, Profile>;
}

/** Returns the configuration of a root. Throws `E_CONFIG` for an unknown profile, and for a rule that fits no tool. */
export function agentConfig(
  { options, own: tools, subagents, profiles }: AgentSources,
  agent: Omit<AgentOptions, 'prompt' | 'model'> & { readonly model?: string | undefined },
): AgentConfig {
  const own = tools.map((tool) => tool.spec.name);
  const profile = agent.profile === undefined ? null : findProfile(profiles, agent.profile);
  const defaults = options.agents?.defaults ?? {};
  const none = { allow: [], ask: [], deny: [] };
  const delegates = subagents !== null && subagents.max_depth > 0;
  const withDelegate = (toolsets: readonly string[]) => (delegates ? [...toolsets, 'delegate'] : toolsets);
  const built_in = options.builtInTools ?? defaults.tools?.filter((name) => !own.includes(name)) ?? BUILT_IN;
  const { allow = [], ...rules } = {
    ...given(defaults.permissions ?? {}),
    ...given(options.permissions ?? {}),
  };
  const { model, system, thinking, toolsets } = agent;
  checkRules(agent.permissions, judgedTools(tools), (verdict) => `permissions.${verdict} of start`);
  const config = rootConfig(
    { model, system, thinking, toolsets: toolsets && withDelegate(toolsets) },
    profile,
    {
      model: defaults.model ?? options.model,
      fallback: defaults.fallback,
      thinking: options.thinking ?? defaults.thinking ?? 'off',
      system: options.system ?? defaults.system ?? SYSTEM,
      toolsets: withDelegate(options.toolsets ?? defaults.toolsets ?? ['process']),
      tools: () => [...built_in, ...own, ...Object.keys(options.mcp?.servers ?? {}).map(toolsOfServer)],
      cwd: agent.cwd ?? options.cwd ?? process.cwd(),
      permissions: {
        cli: { ...none, ...given(agent.permissions ?? {}) },
        config: { ...none, ...rules, allow: [...freeTools(tools), ...allow] },
      },
    },
  );
  const budget = budgetOf(agent);
  return {
    ...config,
    ...(agent.tools === undefined ? {} : { tools: [...new Set(agent.tools)] }),
    // The runtime fills in the id of the root.
    ...(budget === null ? {} : { budgets: [{ ...config.budgets?.[0], ...budget, agent_id: '' }] }),
  };
}

/** A time-out is a budget of time: it is kept in the ledger, and holds for all agents below. */
export function budgetOf({ budget, timeout_ms }: Pick<AgentOptions, 'budget' | 'timeout_ms'>) {
  const seconds = Math.min(budget?.seconds ?? Infinity, (timeout_ms ?? Infinity) / 1_000);
  const all: BudgetTerms = { ...budget, ...(seconds === Infinity ? {} : { seconds }) };
  return Object.keys(given(all)).length === 0 ? null : given(all);
}

function judgedTools(own: readonly Tool[]) {
  return [...Object.values(BUILT_IN_PERMISSIONS), ...own.map((tool) => tool.permission)];
}

/** Returns the limits of a tree. The default depth leaves room for delegations as deep as the program allows. */
export function agentLimits(
  { options, subagents }: AgentSources,
  agent: Pick<AgentOptions, 'limits' | 'profile'>,
): Partial<Limits> {
  const depth = Math.max(DEFAULT_LIMITS.depth, subagents?.max_depth ?? 0);
  return { depth, ...rootLimits(options.agents, agent.profile, options.limits), ...agent.limits };
}

/** Returns the profiles by name; those of the program override those of its settings. Throws `E_CONFIG`. */
export function profileMap(options: NamedOptions, own: readonly Tool[]): ReadonlyMap<string, Profile> {
  const known = {
    tools: judgedTools(own),
    toolsets: ALL_TOOLSETS.map(({ name }) => name),
  };
  const where = 'of openCoppice';
  checkRules(options.permissions, known.tools, (verdict) => `permissions.${verdict} ${where}`);
  const program = (options.profiles ?? []).map(
    (profile): Profile => ({
      ...BLANK_PROFILE,
      ...profile,
      permissions: { ...BLANK_PROFILE.permissions, ...profile.permissions },
      source: 'config',
    }),
  );
  for (const { name, permissions, tools, deny_tools, toolsets } of program) {
    const key = (last: string) => `the profile ${name}: ${last} ${where}`;
    const fault = profileNameFault(String(name));
    if (fault !== null) throw new CoppiceError('E_CONFIG', `profiles ${where}: ${fault}`);
    const names = known.tools.map((tool) => tool.name);
    for (const list of [tools, deny_tools]) checkNames(list, names, 'tool', key('tools'));
    checkNames(toolsets, known.toolsets, 'toolset', key('toolsets'));
    checkRules(permissions, known.tools, (verdict) => key(`permissions.${verdict}`));
  }
  const all = [...settingsProfiles(options, known, where), ...program];
  const profiles = new Map(all.map((profile) => [profile.name, profile]));
  const [unknown] = unknownAllowed(options, profiles);
  if (unknown !== undefined)
    throw new CoppiceError(
      'E_CONFIG',
      `agents.defaults.subagents.allowAgents ${where}: no profile called "${unknown.name}"`,
      { hint: unknown.hint },
    );
  return profiles;
}

/** The kernel's terms for agents that agents create. */
export function agentTerms({
  options,
  subagents,
  profiles,
}: AgentSources): Pick<ToolsetTerms, 'profiles' | 'delegation' | 'subagents' | 'runs'> {
  const programs = Object.keys(options.models ?? {}).filter((name) => name.startsWith('acp:'));
  const servers = programs.map((name) => name.slice('acp:'.length).split('/')[0] as string);
  const delegation = {
    max_depth: subagents?.max_depth ?? DEFAULT_TERMS.delegation.max_depth,
    default_turns: subagents?.max_turns ?? DEFAULT_TERMS.delegation.default_turns,
    system: subagents?.system ?? null,
    servers: [...new Set([...Object.keys(options.acp ?? {}), ...servers])],
    default_server: subagents?.server ?? null,
    default_agent: subagents?.agent ?? null,
  };
  return { profiles, delegation, ...subagentTerms(options, options.env, Object.keys(options.models ?? {})) };
}
