import type { Profile } from '../records/agent/profile.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { ToolPermission } from '../records/tool.ts';
import { nameHint } from '../render/nearest-name.ts';
import { checkRules } from './check-rules.ts';
import { profileNameFault } from './profile-name.ts';
import type { NamedProfile, Settings } from './settings.ts';

/** What settings may name. */
export interface KnownNames {
  readonly tools: readonly ToolPermission[];
  readonly toolsets: readonly string[];
}

/** The profiles of the settings: every entry of `agents` but `defaults`. Throws `E_CONFIG`; `where` follows the key in its message (`in FILE`). */
export function settingsProfiles({ agents = {} }: Settings, known: KnownNames, where: string): Profile[] {
  const entries = Object.entries(agents as Readonly<Record<string, NamedProfile | undefined>>).filter(
    ([name]) => name !== 'defaults',
  );
  const tools = known.tools.map((tool) => tool.name);
  return entries.flatMap(([name, entry]) => {
    if (entry === undefined) return [];
    const fault = profileNameFault(name);
    if (fault !== null) throw new CoppiceError('E_CONFIG', `agents ${where}: ${fault}`);
    const key = (last: string) => `agents.${name}.${last} ${where}`;
    for (const last of ['tools', 'deny_tools'] as const) checkNames(entry[last], tools, 'tool', key(last));
    checkNames(entry.toolsets, known.toolsets, 'toolset', key('toolsets'));
    checkRules(entry.permissions, known.tools, (verdict) => key(`permissions.${verdict}`));
    return [profileOf(name, entry)];
  });
}

/** A misspelt name, ignored, would withhold or deny nothing. */
function checkNames(
  names: readonly string[] | undefined,
  known: readonly string[],
  noun: string,
  where: string,
): void {
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CoppiceError('E_CONFIG', `${where}: there is no ${noun} "${unknown}"`, {
    hint: nameHint(unknown, known, 'There are'),
  });
}

function profileOf(name: string, entry: NamedProfile): Profile {
  const { allow = [], ask = [], deny = [] } = entry.permissions ?? {};
  const seconds = entry.timeout_seconds;
  return {
    name,
    description: entry.description ?? '',
    model: entry.model === undefined || entry.model === 'inherit' ? null : entry.model,
    thinking: entry.thinking ?? null,
    toolsets: entry.toolsets ?? null,
    tools: entry.tools ?? null,
    deny_tools: entry.deny_tools ?? [],
    system: entry.system ?? null,
    turns: entry.turns ?? entry.limits?.turns ?? null,
    run_ms: seconds === undefined ? (entry.limits?.run_ms ?? null) : Math.max(1, Math.round(seconds * 1000)),
    permissions: { allow, ask, deny },
    source: 'config',
  };
}
