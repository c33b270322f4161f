import { resolve } from 'node:path';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import { DEFAULT_TERMS, type ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { parseKnownRule } from '../../permissions/rule.ts';
import { ruleNotice } from '../../permissions/shell/program.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import type { Limits } from '../../records/agent/limits.ts';
import type { Profile } from '../../records/agent/profile.ts';
import { checkedTargets } from '../../records/run/delivery.ts';
import { toolsOfServer } from '../../records/server-tools.ts';
import { given } from '../../records/text/json-fields.ts';
import { clean } from '../../render/clean.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { DEFAULT_SYSTEM_PROMPT, rootConfig, rootLimits } from '../../settings/root-config.ts';
import { findProfile } from '../../settings/settings-profiles.ts';
import { subagentTerms } from '../../settings/subagent-terms.ts';
import { BUILT_IN_PERMISSIONS } from '../../tools/built-in-permissions.ts';
import type { Root } from '../../trees/open-tree.ts';
import { agentTargets } from './channels-config.ts';
import { chooseModel } from './choose-model.ts';
import type { Context } from './context.ts';
import { RULED } from './profiles/parse-agent-file.ts';
import { loadProfiles } from './profiles/profiles.ts';
import { loadProjectParts, projectPartsConfig } from './profiles/project-parts.ts';

/** What is asked of a root agent, by a command, a request, a chat or an editor. The rest comes from its profile, then from the configuration. */
export interface RootOptions {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly yes?: boolean | undefined;
  readonly thinking?: AgentConfig['thinking'] | undefined;
  /** Empty for the toolsets of the profile or the configuration. */
  readonly toolset?: readonly string[] | undefined;
  readonly profile?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** The same as fields of a request; a server takes what is left out from its configuration. `allowed`: the rules that `--yes` is added to. */
export function requestOf({ options }: Context, asked: RootOptions, allowed: readonly string[] = []) {
  const { profile, thinking, toolset, allow, deny, yes } = asked;
  const { model, cwd } = options;
  const all = yes === true ? ['*', ...(allow ?? allowed)] : allow;
  const rules = { allow: all && [...all], deny: deny && [...deny] };
  return { model, cwd, profile, thinking, toolset: toolset && [...toolset], ...rules };
}

/** Rules about which notices were printed: a server composes many configurations. */
const noticed = new Set<string>();

/**
 * Composes the configuration of a root agent, and the limits of its tree. Throws `E_NO_KEY`, an error for a rule that cannot be parsed, and for an unknown
 * profile `E_CONFIG`, which says `where` it was named.
 */
export function composeRoot(
  context: Context,
  terms: ToolsetTerms,
  {
    allow = [],
    deny = [],
    yes = false,
    thinking,
    toolset = [],
    profile: name,
    cwd = context.options.cwd,
    ...asked
  }: RootOptions,
  where = '',
): Root {
  const profile = name === undefined ? null : findProfile(terms.profiles, name, where);
  const model = asked.model ?? chooseModel(context, profile);
  const defaults = context.loaded.configuration.agents?.defaults ?? {};
  const brought = projectPartsConfig({ ...context, options: { ...context.options, ...given({ cwd }) } });
  const servers = [
    ...Object.keys(context.loaded.configuration.mcp?.servers ?? {}),
    ...(brought.mcp_servers ?? []).map((server) => server.name),
  ];
  const config = rootConfig(
    { model, thinking, toolsets: toolset.length > 0 ? toolset : undefined },
    profile,
    {
      model,
      fallback: defaults.fallback,
      thinking: defaults.thinking ?? 'off',
      system: defaults.system ?? DEFAULT_SYSTEM_PROMPT,
      ...brought,
      toolsets: defaults.toolsets ?? ['process'],
      tools: (toolsets) => defaults.tools ?? usualTools(toolsets, servers),
      cwd: resolve(cwd ?? '.'),
      permissions: {
        cli: { allow: yes ? ['*', ...allow] : allow, ask: [], deny },
        config: { allow: [], ask: [], deny: [], ...given(defaults.permissions ?? {}) },
      },
    },
  );
  for (const rules of [config.permissions.cli, config.permissions.config])
    for (const verdict of ['allow', 'ask', 'deny'] as const)
      for (const rule of rules[verdict]) {
        parseKnownRule(rule, verdict, RULED);
        for (const notice of verdict === 'allow' && !noticed.has(rule) ? ruleNotice(rule) : [])
          process.stderr.write(`${clean(notice)}\n`);
        noticed.add(rule);
      }
  return { config, limits: { ...rootLimits(context.loaded.configuration.agents, name), ...asked.limits } };
}

/** A root whose results are delivered. Rejects with `E_INVALID_ARGUMENT` for a target that is none. */
export async function delivering(context: Context, root: Root, targets?: readonly string[]): Promise<Root> {
  const deliver = await checkedDelivery(context, targets);
  return deliver.length === 0 ? root : { ...root, config: { ...root.config, deliver } };
}

/** Throws `E_INVALID_ARGUMENT` for a target that is none. */
export async function checkedDelivery({ loaded }: Context, targets: readonly string[] = []) {
  if (targets.length === 0) return [];
  const { targetProblem } = await import('./open-channels.ts');
  return checkedTargets(targets, (target) => targetProblem(loaded.configuration.channels ?? {}, target));
}

/** Returns the default tools. With the toolset slash a model has two ways to act: bash, and slash commands for everything else. */
function usualTools(toolsets: readonly string[], servers: readonly string[]): readonly string[] {
  const built_in = toolsets.includes('slash')
    ? ['bash']
    : [...Object.keys(BUILT_IN_PERMISSIONS), ...servers.map(toolsOfServer)];
  const more = [
    ...(toolsets.includes('sessions') ? ['cron'] : []),
    ...(toolsets.includes('workflow') ? ['workflow'] : []),
  ];
  return [...built_in, ...more];
}

/** Composes the terms for agents that agents create, from the configuration and the profiles that this folder may use. Prints notices on stderr. */
export function composeTerms(context: Context): ToolsetTerms {
  const { configuration } = context.loaded;
  const { profiles, notices } = loadProfiles(context);
  const { faults, unused } = loadProjectParts(context);
  const told = [...notices, ...faults, ...(unused === null ? [] : [unused])];
  for (const notice of [...told, ...toolsetNotices([...profiles.values()])])
    process.stderr.write(`${clean(notice)}\n`);
  const subagent_model = configuration.agents?.defaults?.subagents?.model ?? null;
  return {
    profiles: new Map(
      [...profiles].map(([name, profile]) =>
        name === 'explore' && profile.source === 'built in'
          ? [name, { ...profile, model: subagent_model }]
          : [name, profile],
      ),
    ),
    ...subagentTerms(configuration, context.env),
    deliver_to: agentTargets(configuration.channels ?? {}),
    delegation: { ...DEFAULT_TERMS.delegation, servers: Object.keys(configuration.acp ?? {}) },
  };
}

/** Notices about profiles that name an unknown toolset; they work without it. */
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
