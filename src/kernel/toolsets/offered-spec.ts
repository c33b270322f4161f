import type { AgentConfig } from '../../records/agent/agent.ts';
import { keptIn } from '../../records/kept-in.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import { SCRIPTED } from './acts/task-options.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/** What decides, within one runtime, which parameters an agent's model is sent (docs/vocabularies.md). */
export interface Offer {
  readonly config: Pick<AgentConfig, 'model' | 'profile' | 'thinking' | 'channel'>;
  /** Whether somebody limited what its tree or it may spend. */
  readonly limited: boolean;
  /** Whether its folder is in a git repository with a commit. */
  readonly in_repository: boolean;
}

interface Terms {
  readonly terms: ToolsetTerms;
}

/** Models and profiles that are described; of more, a model is told some. */
const LISTED_MAX = 6;
/** Maximum characters of what it is told of a profile. */
const TOLD_MAX = 80;

/** Whether a parameter is sent, or what of it differs; every other parameter always is. Calls are checked by the whole schema: one that was not sent may be used. */
const SHOWN: Readonly<Record<string, (offer: Offer & Terms, tool: string) => boolean | object>> = {
  profile: profilesFor,
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
  budget: ({ limited }) => limited,
  worktree: ({ in_repository }) => in_repository,
  output_schema: asked('output_schema'),
  read_first: asked('read_first'),
  replace_all: () => false,
  // Models without reasoning refuse any setting.
  thinking: ({ config }) => config.thinking !== 'off',
  deliver: ({ config, terms }, tool) =>
    terms.deliver_to.length > 0 || (tool === 'cron' && config.channel !== undefined),
  serverName: ({ terms }) => terms.delegation.servers.length > 1 && { enum: terms.delegation.servers },
};

/** The names of profiles, as the values of a parameter, and what they are; false if there are none. */
function profilesFor({ terms: { profiles, subagents } }: Terms, tool: string) {
  const allowed = tool === 'sessions_spawn' ? subagents.allow_agents : null;
  const names = [...profiles.keys()].filter((name) => allowed?.includes(name) ?? true);
  const told = names.slice(0, LISTED_MAX).flatMap((name) => {
    const { description = '' } = profiles.get(name) ?? {};
    return description === '' ? [] : [`${name}: ${cutText(description.replace(/\.$/, ''), TOLD_MAX, '…')}`];
  });
  return names.length > 0 && { enum: names, description: ['Kind of agent', ...told].join('. ') };
}

function asked(name: string) {
  return ({ config: { profile = '' }, terms: { subagents, profiles } }: Offer & Terms): boolean =>
    [subagents, profiles.get(profile)].some((one) => one?.parameters.includes(name));
}

type Schema = ToolSpec['input'];

/** A schema with what `shown` says of each parameter, at every depth. */
function withShown(schema: Schema, shown: (parameter: string) => boolean | object): Schema {
  const { properties, items } = schema as Record<string, Record<string, Schema> | undefined>;
  if (items !== undefined) return { ...schema, items: withShown(items, shown) };
  if (properties === undefined) return schema;
  const kept = Object.entries(properties).flatMap(([key, value]) => {
    const change = shown(key);
    return change === false
      ? []
      : [[key, { ...withShown(value, shown), ...(change === true ? {} : change) }]];
  });
  return { ...schema, properties: Object.fromEntries(kept) };
}

/**
 * The descriptions of tools that create agents or schedule their work. Each is made once: agents that are offered the same share it, as they share what is kept
 * for it, such as the frame of their requests.
 */
export class OfferedSpecs {
  readonly #terms: ToolsetTerms;
  readonly #made = new WeakMap<ToolSpec, Map<string, ToolSpec>>();
  readonly #read = new WeakMap<ToolSpec, Schema>();

  constructor(terms: ToolsetTerms) {
    this.#terms = terms;
  }

  /** The tool with the parameters that this agent can use. */
  specFor(spec: ToolSpec, { config, limited, in_repository }: Offer): ToolSpec {
    const { model, profile, thinking, channel } = config;
    const offer = { config: { model, profile, thinking, channel }, limited, in_repository } as Offer;
    const made = keptIn(this.#made, spec, () => new Map<string, ToolSpec>());
    return keptIn(made, JSON.stringify(offer), () => {
      const { name, description, input } = spec;
      const whole = { ...offer, terms: this.#terms };
      return { name, description, input: withShown(input, (key) => SHOWN[key]?.(whole, name) ?? true) };
    });
  }

  /** What the arguments of a call are read by: all parameters, with the names of profiles. */
  schemaForReading(spec: ToolSpec): Schema {
    const terms = { terms: this.#terms };
    return keptIn(this.#read, spec, () =>
      withShown(spec.input, (key) => key !== 'profile' || profilesFor(terms, spec.name) || true),
    );
  }
}
