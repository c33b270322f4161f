import type { AgentConfig } from '../core/agent.ts';
import { CoppiceError } from '../core/coppice-error.ts';
import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import { type Profile, rootProfileRules } from '../core/profile.ts';
import { didYouMean } from '../render/nearest-name.ts';
import { DEFAULT_TERMS, type ToolsetTerms } from '../toolsets/toolset-terms.ts';
import type { AgentOptions, CoppiceOptions, ProfileOptions } from './coppice-options.ts';
import type { SubagentTerms } from './subagent-terms.ts';

const SYSTEM = 'You are an agent. Do what you are asked with the tools you have.';
const BUILT_IN = ['read', 'search', 'think'];

/** What the options of one coppice come to. `own` are names of the program's tools, which agents may use without asking. */
export interface AgentGround {
  readonly options: CoppiceOptions;
  readonly own: readonly string[];
  readonly subagents: SubagentTerms | null;
  readonly profiles: ReadonlyMap<string, Profile>;
}

/** The configuration of a root. Throws `E_CONFIG` for a profile that there is none of. */
export function agentConfig(
  { options, own, subagents, profiles }: AgentGround,
  agent: Omit<AgentOptions, 'prompt'>,
): AgentConfig {
  const profile = agent.profile === undefined ? null : findProfile(profiles, agent.profile);
  const none = { allow: [], ask: [], deny: [] };
  const usual = agent.toolsets ?? options.toolsets ?? ['process'];
  const toolsets = subagents === null ? usual : [...usual, 'delegate'];
  const tools = profile?.tools ?? [...(options.builtInTools ?? BUILT_IN), ...own];
  return {
    model: agent.model ?? profile?.model ?? options.model,
    thinking: profile?.thinking ?? options.thinking ?? 'off',
    system: agent.system ?? profile?.system ?? options.system ?? SYSTEM,
    toolsets: [...new Set(agent.toolsets === undefined ? (profile?.toolsets ?? toolsets) : toolsets)],
    tools: [...new Set(tools)].filter((name) => profile?.deny_tools.includes(name) !== true),
    cwd: options.cwd ?? process.cwd(),
    permissions: {
      cli: none,
      config: { ...none, ...options.permissions, allow: [...own, ...(options.permissions?.allow ?? [])] },
      ...(profile === null ? {} : rootProfileRules(profile)),
    },
    ...(profile === null ? {} : { profile: profile.name }),
    ...(profile?.turns == null ? {} : { turns: profile.turns }),
    ...(profile?.run_ms == null ? {} : { run_ms: profile.run_ms }),
  };
}

/** Delegations as deep as the program allowed them fit into the tree, unless it says otherwise. */
export function agentLimits(
  { options, subagents }: AgentGround,
  agent: Pick<AgentOptions, 'limits'>,
): Partial<Limits> {
  const depth = Math.max(DEFAULT_LIMITS.depth, subagents?.max_depth ?? 0);
  return { depth, ...options.limits, ...agent.limits };
}

function findProfile(profiles: ReadonlyMap<string, Profile>, name: string): Profile {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  throw new CoppiceError('E_CONFIG', `no profile called "${name}"`, {
    hint: `${didYouMean(name, profiles.keys())}Profiles: ${[...profiles.keys()].join(', ') || 'none'}`,
  });
}

export function profileMap(profiles: readonly ProfileOptions[]): ReadonlyMap<string, Profile> {
  return new Map(profiles.map((profile) => [profile.name, wholeProfile(profile)]));
}

function wholeProfile(profile: ProfileOptions): Profile {
  return {
    description: '',
    model: null,
    thinking: null,
    toolsets: null,
    tools: null,
    deny_tools: [],
    system: null,
    turns: null,
    run_ms: null,
    ...profile,
    permissions: { allow: [], ask: [], deny: [], ...profile.permissions },
    source: 'config',
  };
}

/** What the kernel is told of agents that agents create. */
export function agentTerms({
  options,
  subagents,
  profiles,
}: AgentGround): Pick<ToolsetTerms, 'profiles' | 'delegation'> {
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
  return { profiles, delegation };
}
