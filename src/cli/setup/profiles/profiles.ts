import { realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { ALL_TOOLSETS } from '../../../kernel/toolsets/all-toolsets.ts';
import { workingFolder } from '../../../processes/working-folder.ts';
import { BLANK_PROFILE, type Profile } from '../../../records/agent/profile.ts';
import { configFolder } from '../../../settings/folders.ts';
import { settingsProfiles, unknownAllowed } from '../../../settings/settings-profiles.ts';
import type { LoadedConfiguration } from '../load-configuration.ts';
import { TOOLS } from './parse-agent-file.ts';
import { parseAgentFiles, readUserAgentFiles } from './read-agent-files.ts';
import { type ProjectAgents, readProjectAgents, untrustedNotice } from './trust.ts';

/** Profiles that always exist; the user may redefine them. */
const BUILT_IN_PROFILES: readonly Profile[] = [
  {
    ...BLANK_PROFILE,
    source: 'built in',
    name: 'explore',
    description: 'Only reads.',
    tools: ['read', 'search', 'think', 'read_image', 'skill'],
    turns: 20,
  },
  {
    ...BLANK_PROFILE,
    source: 'built in',
    name: 'work',
    description: 'All that its creator can do.',
    turns: 50,
  },
];

const KNOWN = { tools: TOOLS, toolsets: ALL_TOOLSETS.map(({ name }) => name) };

/** The part of the command line's `Context` that profiles are loaded with. */
export interface ProfilesInput {
  readonly options: { readonly cwd?: string };
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedConfiguration;
  readonly data_folder: string;
}

export interface LoadedProfiles {
  /** By name, in the order of precedence. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Lines for stderr about what was ignored and why. Untrusted text in them is quoted, but not cleaned for a terminal. */
  readonly notices: readonly string[];
  /** The agent files of the working folder, trusted or not. */
  readonly project: ProjectAgents;
}

/**
 * Loads every profile that may be used, by precedence: the configuration, the user's files, the folder's files if it is trusted, the built-in ones.
 * Invalid files become notices; throws `E_CONFIG` for the configuration and `E_NO_FOLDER` for the working folder.
 */
export function loadProfiles(input: ProfilesInput): LoadedProfiles {
  const folder = workingFolder(resolve(input.options.cwd ?? '.'));
  const user = parseAgentFiles(readUserAgentFiles(join(userFolder(input, folder), 'agents')));
  const project = readProjectAgents(folder, input.data_folder);
  const own = project.trust === 'trusted' ? parseAgentFiles(project.raw) : null;
  const profiles = new Map<string, Profile>();
  const { file, configuration } = input.loaded;
  const configured = settingsProfiles(configuration, KNOWN, `in ${file}`);
  const ranked = [configured, user.profiles, own?.profiles ?? [], BUILT_IN_PROFILES];
  for (const profile of ranked.flat()) if (!profiles.has(profile.name)) profiles.set(profile.name, profile);
  const untrusted = untrustedNotice(project);
  // For a folder that is not trusted, one line is enough.
  const folder_notices = untrusted === null ? (own?.notices ?? project.raw.notices) : [untrusted];
  // Only a notice, because another folder may have such a profile.
  const unknown = unknownAllowed(configuration, profiles).map(
    ({ name, hint }) =>
      `agents.defaults.subagents.allowAgents in ${file}: no profile "${name}" in this folder, so background runs that name it are refused. ${hint}`,
  );
  return { profiles, notices: [...user.notices, ...folder_notices, ...unknown], project };
}

/**
 * Returns the folder of the configuration file in use; if that lies in the working folder, the usual one, because files of a working folder are
 * trusted only by their contents, and never as the user's own.
 */
export function userFolder({ loaded, env }: ProfilesInput, working_folder: string): string {
  const usual = configFolder(env);
  if (loaded.file === null) return usual;
  const beside = resolve(dirname(loaded.file));
  if (beside === resolve(usual)) return usual;
  const place = realpathSync.native(beside);
  const inside = place === working_folder || place.startsWith(working_folder + sep);
  return inside ? usual : beside;
}
