import { resolve } from 'node:path';
import { createCronTool } from '../../cron/cron-tool.ts';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import { DEFAULT_TERMS, type ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { AcpServer } from '../../models/acp/acp-server.ts';
import type { Gate } from '../../models/gate.ts';
import type { Model } from '../../models/model.ts';
import { openModel } from '../../models/providers.ts';
import { parseKnownRule } from '../../permissions/rule.ts';
import { killProcessesOfDeadRuntimes } from '../../processes/stray-processes.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { type Profile, rootProfileRules } from '../../records/agent/profile.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { openRuntime } from '../../runtime/open-runtime.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { outputFolder, settingsPlaces } from '../../settings/folders.ts';
import { given, settingsTerms } from '../../settings/settings-terms.ts';
import type { Store, WorkerRole } from '../../store/store.ts';
import { BUILT_IN_PERMISSIONS } from '../../tools/built-in-permissions.ts';
import { createBuiltInTools } from '../../tools/tool-registry.ts';
import { localZone } from '../cron/local-zone.ts';
import { agentTargets, canAsk } from '../deliveries/channels-config.ts';
import { loadProfiles } from '../profiles/profiles.ts';
import { DEFAULT_SYSTEM_PROMPT } from '../run/system-prompt.ts';
import { TOOLS } from '../run/tool-names.ts';
import type { Context } from './context.ts';

export interface Permissions {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly yes: boolean;
}

export interface RuntimeWishes {
  /** Models that only this command knows. */
  readonly extra?: ReadonlyMap<string, Model>;
  /** Somebody can answer what a rule asks about: always, or for agents with such a configuration. */
  readonly can_ask?: boolean | ((config: AgentConfig) => boolean);
  readonly role?: WorkerRole;
  readonly labels?: readonly string[];
}

/** The runtime of one command: models by the configuration, all built-in tools. */
export async function composeRuntime(
  context: Context,
  store: Store,
  terms: ToolsetTerms,
  { extra = new Map(), can_ask = false, role = 'run', labels = [] }: RuntimeWishes = {},
): Promise<RuntimeFace> {
  const { configuration } = context.loaded;
  const gates = new Map<string, Gate>();
  const unsummarised = new Set<string>();
  const acp_servers = new Map<string, AcpServer>();
  // What a killed predecessor left running must not go on beside its successor.
  killProcessesOfDeadRuntimes();
  const open = async (name: string): Promise<Model> =>
    extra.get(name) ??
    openModel(name, {
      providers: configuration.providers ?? {},
      env: context.env,
      gates,
      unsummarised,
      acp: configuration.acp ?? {},
      acp_servers,
    });
  const cron = createCronTool({
    store,
    canAsk,
    default_tz: localZone(),
    deliver_to: terms.deliver_to,
    checkModel: async (name) => void (await open(name)),
  });
  return openRuntime({
    store,
    openModel: open,
    role,
    labels,
    tools: [...createBuiltInTools(), cron],
    terms,
    can_ask,
    spill_dir: outputFolder(context.data_folder),
    settings: settingsPlaces(context.options.config, context.env),
    env_allow: configuration.env_allow ?? [],
  });
}

export interface ConfigWishes {
  readonly thinking?: AgentConfig['thinking'];
  readonly toolsets?: readonly string[];
  /** A profile of `composeTerms`; throws `E_CONFIG` when there is none of that name. */
  readonly profile?: string;
}

/** What a root agent of this command is created with. Throws for a rule that cannot be read. */
export function composeConfig(
  context: Context,
  terms: ToolsetTerms,
  model: string,
  permissions: Permissions,
  wishes: ConfigWishes,
): AgentConfig {
  const defaults = context.loaded.configuration.agents?.defaults ?? {};
  const profile = wishes.profile === undefined ? null : findProfile(terms, wishes.profile);
  const toolsets = wishes.toolsets ?? profile?.toolsets ?? defaults.toolsets ?? ['process'];
  // The two-path model (seed 2): bash, and everything else through slash.
  const built_in = toolsets.includes('slash') ? ['bash'] : Object.keys(BUILT_IN_PERMISSIONS);
  const usual = toolsets.includes('sessions') ? [...built_in, 'cron'] : built_in;
  const config: AgentConfig = {
    model,
    thinking: wishes.thinking ?? profile?.thinking ?? defaults.thinking ?? 'off',
    system: profile?.system ?? defaults.system ?? DEFAULT_SYSTEM_PROMPT,
    toolsets,
    tools: (profile?.tools ?? defaults.tools ?? usual).filter((name) => !profile?.deny_tools.includes(name)),
    cwd: resolve(context.options.cwd ?? '.'),
    permissions: {
      cli: {
        allow: permissions.yes ? ['*', ...permissions.allow] : permissions.allow,
        ask: [],
        deny: permissions.deny,
      },
      config: { allow: [], ask: [], deny: [], ...given(defaults.permissions ?? {}) },
      ...(profile === null ? {} : rootProfileRules(profile)),
    },
    ...(profile === null ? {} : { profile: profile.name }),
    ...(profile?.turns == null ? {} : { turns: profile.turns }),
    ...(profile?.run_ms == null ? {} : { run_ms: profile.run_ms }),
  };
  for (const rules of [config.permissions.cli, config.permissions.config])
    for (const verdict of ['allow', 'ask', 'deny'] as const)
      for (const rule of rules[verdict]) parseKnownRule(rule, verdict, TOOLS);
  return config;
}

/** A profile that names what does not exist still works, without it; its owner is told. */
function toolsetNotices(profiles: readonly Profile[]): string[] {
  const known = ALL_TOOLSETS.map((toolset) => toolset.name);
  return profiles.flatMap(({ name, source, toolsets }) =>
    (toolsets ?? []).flatMap((toolset) =>
      known.includes(toolset)
        ? []
        : [
            `profile ${name} (${source}): no toolset "${toolset}", left out. ${nameHint(toolset, known, 'Toolsets')}`,
          ],
    ),
  );
}

function findProfile(terms: ToolsetTerms, name: string): Profile {
  const profile = terms.profiles.get(name);
  if (profile !== undefined) return profile;
  throw new CoppiceError('E_CONFIG', `no profile called "${name}"`, {
    hint: `${nameHint(name, [...terms.profiles.keys()], 'Profiles')}. See: coppice profiles`,
  });
}

/** What the configuration, and the profiles that this folder may use, say of agents that agents create. */
export function composeTerms(context: Context): ToolsetTerms {
  const { configuration } = context.loaded;
  const { profiles, notices } = loadProfiles(context);
  for (const notice of [...notices, ...toolsetNotices([...profiles.values()])])
    process.stderr.write(`${clean(notice)}\n`);
  const cheap = configuration.agents?.defaults?.subagents?.model ?? null;
  return {
    profiles: new Map(
      [...profiles].map(([name, profile]) =>
        name === 'explore' && profile.source === 'built in'
          ? [name, { ...profile, model: cheap }]
          : [name, profile],
      ),
    ),
    ...settingsTerms(configuration),
    deliver_to: agentTargets(configuration.channels ?? {}),
    delegation: { ...DEFAULT_TERMS.delegation, servers: Object.keys(configuration.acp ?? {}) },
  };
}

/** Limits of the configuration, those of the profile, then those of the command line. */
export function composeLimits(context: Context, named: Partial<Limits>, profile?: string): Partial<Limits> {
  const { agents = {} } = context.loaded.configuration;
  const of_profile = profile === undefined || !Object.hasOwn(agents, profile) ? {} : agents[profile]?.limits;
  return { ...given({ ...agents.defaults?.limits, ...of_profile }), ...named };
}
