import type { AgentConfig } from '../../records/agent/agent.ts';
import type { ToolSpec } from '../../records/tool.ts';
import { SCRIPTED } from './acts/task-options.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** What decides which parameters an agent's model is sent (docs/vocabularies.md). */
export interface Offer {
  readonly config: AgentConfig;
  readonly terms: ToolsetTerms;
  /** Whether somebody limited what its tree or it may spend. */
  readonly limited: boolean;
  /** Whether its folder is in a git repository with a commit. */
  readonly in_repository: boolean;
}

/** Models that are listed; of more, a model is told some. */
const LISTED_MAX = 6;

/** Whether a parameter is sent, or what of it differs; every other parameter always is. Calls are checked by the whole schema: one that was not sent may be used. */
const SHOWN: Readonly<Record<string, (offer: Offer, tool: string) => boolean | object>> = {
  profile({ terms: { profiles, subagents } }, tool) {
    const allowed = tool === 'sessions_spawn' ? subagents.allow_agents : null;
    const names = [...profiles.keys()].filter((name) => allowed?.includes(name) ?? true);
    return names.length > 0 && { enum: names };
  },
  model({ config, terms: { profiles, subagents } }) {
    const named = [...[...profiles.values()].map(({ model }) => model), ...(subagents.models ?? [])];
    const known = [...new Set(named)].filter((name) => name !== null && !SCRIPTED.test(name));
    if (!known.some((name) => name !== config.model)) return subagents.models === null;
    if (known.length <= LISTED_MAX && !known.join().includes('*')) return { enum: known };
    return { description: `Another model, such as ${known.slice(0, LISTED_MAX).join(', ')}.` };
  },
  maxTurns: ({ terms: { delegation } }) => ({
    description: `Maximum turns (model requests) the subagent can take (default: ${delegation.default_turns})`,
  }),
  // Several are given in one call by those who know it.
  agent_ids: () => false,
  budget: ({ limited }) => limited,
  worktree: ({ in_repository }) => in_repository,
  output_schema: asked('output_schema'),
  read_first: asked('read_first'),
  // Models without reasoning refuse any setting.
  thinking: ({ config }) => config.thinking !== 'off',
  deliver: ({ config, terms }, tool) =>
    terms.deliver_to.length > 0 || (tool === 'cron' && config.channel !== undefined),
  serverName: ({ terms }) => terms.delegation.servers.length > 1 && { enum: terms.delegation.servers },
};

function asked(name: string) {
  return ({ config: { profile = '' }, terms: { subagents, profiles } }: Offer): boolean =>
    [subagents, profiles.get(profile)].some((one) => one?.parameters.includes(name));
}

/** The description of a tool that creates agents or schedules their work, with the parameters that this agent can use. */
export function offeredSpec({ name, description, input }: ToolSpec, offer: Offer): ToolSpec {
  const offered = (schema: ToolSpec['input']): ToolSpec['input'] => {
    const { properties, items } = schema as Record<string, Record<string, ToolSpec['input']> | undefined>;
    if (items !== undefined) return { ...schema, items: offered(items) };
    const kept = Object.entries(properties ?? {}).flatMap(([key, value]) => {
      const shown = SHOWN[key]?.(offer, name) ?? true;
      return shown === false ? [] : [[key, { ...offered(value), ...(shown === true ? {} : shown) }]];
    });
    return properties === undefined ? schema : { ...schema, properties: Object.fromEntries(kept) };
  };
  return { name, description, input: offered(input) };
}
