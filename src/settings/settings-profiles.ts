import type { Profile } from '../records/agent/profile.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { isServerTool } from '../records/server-tools.ts';
import { cutText } from '../records/text/cut-text.ts';
import { wholeMilliseconds } from '../records/text/parse-duration.ts';
import type { ToolPermission } from '../records/tool.ts';
import { nameHint, nearestName, noSuchName } from '../render/nearest-name.ts';
import { checkRules, ruleAt } from '../tools/built-in-permissions.ts';
import { evidenceText } from '../tools/evidence.ts';
import type { NamedProfile, Settings } from './settings.ts';

export interface KnownNames {
  readonly tools: readonly ToolPermission[];
  readonly toolsets: readonly string[];
}

/**
 * Returns the profiles of the settings: every entry of `agents` but `defaults`, which is validated like them. Throws `E_CONFIG`; `where` follows the key in
 * its message (`in FILE`).
 */
export function settingsProfiles({ agents = {} }: Settings, known: KnownNames, where: string): Profile[] {
  const entries = Object.entries(agents as Readonly<Record<string, NamedProfile | undefined>>);
  const tools = known.tools.map((tool) => tool.name);
  return entries.flatMap(([name, entry]) => {
    if (entry === undefined) return [];
    const fault = name === 'defaults' ? null : profileNameFault(name);
    if (fault !== null) throw new CoppiceError('E_CONFIG', `agents ${where}: ${fault}`);
    const key = (last: string) => `agents.${name}.${last} ${where}`;
    for (const last of ['tools', 'deny_tools'] as const) checkNames(entry[last], tools, 'tool', key(last));
    checkNames(entry.toolsets, known.toolsets, 'toolset', key('toolsets'));
    checkRules(entry.permissions, known.tools, (verdict) => key(`permissions.${verdict}`));
    const require = (entry.require ?? []).map((text) =>
      ruleAt(key('require'), () => evidenceText(text, known.tools)),
    );
    return name === 'defaults' ? [] : [profileOf(name, entry, require)];
  });
}

/** Throws `E_CONFIG` for an unknown name; `where` precedes the message (`channels.telegram: `). */
export function findProfile(profiles: ReadonlyMap<string, Profile>, name: string, where = ''): Profile {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  throw noSuchName('E_CONFIG', `${where}no profile called`, name, [...profiles.keys()], 'Profiles');
}

/** Returns the names in `allowAgents` that no profile has, each with a hint. `main` stands for an agent without a profile. */
export function unknownAllowed(
  { agents }: Settings,
  profiles: ReadonlyMap<string, Profile>,
): { readonly name: string; readonly hint: string }[] {
  const known = ['main', ...profiles.keys()];
  return (agents?.defaults?.subagents?.allowAgents ?? [])
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, hint: nameHint(name, known, 'Profiles') }));
}

/** Throws `E_CONFIG` for an unknown name: ignoring a misspelt one would mean that it withholds or denies nothing. */
export function checkNames(
  names: readonly string[] | null | undefined,
  known: readonly string[],
  noun: string,
  where: string,
): void {
  // Which tools an MCP server has is known only while it runs.
  const unknown = names?.find((name) => !known.includes(name) && !(noun === 'tool' && isServerTool(name)));
  if (unknown !== undefined)
    throw noSuchName('E_CONFIG', `${where}: there is no ${noun}`, unknown, known, 'There are');
}

function profileOf(name: string, entry: NamedProfile, require: readonly string[]): Profile {
  const { allow = [], ask = [], deny = [] } = entry.permissions ?? {};
  const seconds = entry.timeout_seconds;
  return {
    name,
    description: entry.description ?? '',
    model: entry.model === undefined || entry.model === 'inherit' ? null : entry.model,
    ...(entry.fallback === undefined ? {} : { fallback: entry.fallback }),
    thinking: entry.thinking ?? null,
    toolsets: entry.toolsets ?? null,
    tools: entry.tools ?? null,
    deny_tools: entry.deny_tools ?? [],
    system: entry.system ?? null,
    instructions: entry.instructions ?? true,
    skills: entry.skills ?? null,
    parameters: entry.parameters ?? [],
    turns: entry.turns ?? entry.limits?.turns ?? null,
    run_ms: seconds === undefined ? (entry.limits?.run_ms ?? null) : wholeMilliseconds(seconds),
    permissions: { allow, ask, deny },
    budget: entry.budget ?? null,
    require,
    source: 'config',
  };
}

const NAME_MAX = 64;

/** Why this cannot be the name of a profile; null if it can. In the configuration, `defaults` stands for all agents. */
export function profileNameFault(name: string): string | null {
  if (name === 'defaults') return '"defaults" is not a valid profile name: it stands for all agents';
  // A misspelt `defaults`: what was meant for all agents would apply to none.
  if (nearestName(name, ['defaults']) !== null)
    return `"${name}" is not a valid profile name: the settings of all agents are called "defaults"`;
  if (name.length <= NAME_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return null;
  const shown = JSON.stringify(cutText(name, 40, '…'));
  return `${shown} is not a valid profile name: use lowercase letters, digits and single hyphens, at most ${NAME_MAX}, for example code-reviewer`;
}
