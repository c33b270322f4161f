import type { Profile } from '../../records/agent/profile.ts';
import { clean } from '../../render/clean.ts';
import { sign } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { loadProfiles } from '../setup/profiles/profiles.ts';
import { parseAgentFiles } from '../setup/profiles/read-agent-files.ts';

interface ListedProfile extends Profile {
  /** False for an agent file of the folder that the user has not accepted, which therefore cannot be used. */
  readonly trusted: boolean;
}

/** `coppice profiles`. */
export async function profiles(context: Context): Promise<number> {
  const loaded = loadProfiles(context);
  const { project } = loaded;
  const left_out = project.trust === 'trusted' ? null : parseAgentFiles(project.raw);
  const listed: ListedProfile[] = [
    ...[...loaded.profiles.values()].map((profile) => ({ ...profile, trusted: true })),
    ...(left_out?.profiles ?? []).map((profile) => ({ ...profile, trusted: false })),
  ];
  const notices = [...new Set([...loaded.notices, ...(left_out?.notices ?? [])])];
  if (!context.json) for (const notice of notices) process.stderr.write(`${clean(notice)}\n`);
  return printResult(context, { schema: 'coppice/profiles/v1', profiles: listed, notices }, () =>
    profileTable(listed, context),
  );
}

const HEAD = ['NAME', 'SOURCE', 'MODEL', 'TOOLSETS', 'TOOLS', 'DESCRIPTION'] as const;

/** A row per profile; the source of untrusted ones starts with NOT TRUSTED. */
function profileTable(profiles: readonly ListedProfile[], { width, out: style }: Context): string[] {
  const none = sign(style, '–');
  const list = (names: readonly string[] | null): string =>
    names === null ? none : names.length === 0 ? 'none' : names.join(', ');
  const rows = profiles.map((profile) => [
    profile.name,
    clean(`${profile.trusted ? '' : 'NOT TRUSTED '}${profile.source}`),
    profile.model === null ? none : clean(profile.model),
    clean(list(profile.toolsets)),
    clean(toolsText(profile, list)),
    clean(profile.description) || none,
  ]);
  return tableLines(HEAD, rows, { width, style, most: [24, 40, 28, 20, 32] });
}

function toolsText(profile: Profile, list: (names: readonly string[] | null) => string): string {
  if (profile.deny_tools.length === 0) return list(profile.tools);
  const denied = `not ${profile.deny_tools.join(', ')}`;
  return profile.tools === null ? denied : `${list(profile.tools)}; ${denied}`;
}
