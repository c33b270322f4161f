import type { Profile } from '../../records/agent/profile.ts';
import { clean } from '../../render/clean.ts';
import { printJson } from '../agents/agent-json.ts';
import type { Context } from '../setup/context.ts';
import { parseAgentFiles } from './agent-files.ts';
import { profileTable } from './profile-table.ts';
import { loadProfiles } from './profiles.ts';

export interface ListedProfile extends Profile {
  /** False: a file of the folder that the user has not accepted; nobody can use it. */
  readonly trusted: boolean;
}

/** `coppice profiles`: what kinds of agents there are here. */
export async function profiles(context: Context): Promise<number> {
  const loaded = loadProfiles(context);
  const { project } = loaded;
  const left_out = project.trust === 'trusted' ? null : parseAgentFiles(project.raw);
  const listed: ListedProfile[] = [
    ...[...loaded.profiles.values()].map((profile) => ({ ...profile, trusted: true })),
    ...(left_out?.profiles ?? []).map((profile) => ({ ...profile, trusted: false })),
  ];
  const notices = [...new Set([...loaded.notices, ...(left_out?.notices ?? [])])];
  if (context.json) printJson({ schema: 'coppice/profiles/v1', profiles: listed, notices });
  else {
    process.stdout.write(`${profileTable(listed, context.width, context.out).join('\n')}\n`);
    for (const notice of notices) process.stderr.write(`${clean(notice)}\n`);
  }
  return 0;
}
