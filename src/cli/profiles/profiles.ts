import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { ALL_TOOLSETS } from '../../kernel/toolsets/all-toolsets.ts';
import type { Profile } from '../../records/agent/profile.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { configFolder } from '../../settings/folders.ts';
import { settingsProfiles } from '../../settings/settings-profiles.ts';
import { TOOLS } from '../run/tool-names.ts';
import type { LoadedConfiguration } from '../setup/load-configuration.ts';
import { parseAgentFiles, readUserAgentFiles } from './agent-files.ts';
import { BUILT_IN_PROFILES } from './built-in-profiles.ts';
import { type ProjectAgents, readProjectAgents, untrustedNotice } from './project-agents.ts';

const KNOWN = { tools: TOOLS, toolsets: ALL_TOOLSETS.map(({ name }) => name) };

/** A part of the command line's `Context`. */
export interface ProfilesInput {
  readonly options: { readonly cwd?: string };
  readonly env: NodeJS.ProcessEnv;
  readonly loaded: LoadedConfiguration;
  readonly data_folder: string;
}

export interface LoadedProfiles {
  /** By name: those of the configuration first, then the user's files, the folder's, the built-in ones. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** One line each, for stderr: what was ignored and why. Foreign text in them is quoted, not cleaned for a terminal. */
  readonly notices: readonly string[];
  /** What the working folder brings, trusted or not. */
  readonly project: ProjectAgents;
}

/**
 * Every profile that may be used: configuration before the user's files before the folder's files (trusted ones only)
 * before the built-in ones. Files that are wrong end as notices; throws `E_CONFIG` for the configuration and
 * `E_NO_FOLDER` for the working folder.
 */
export function loadProfiles(input: ProfilesInput): LoadedProfiles {
  const folder = workingFolder(input.options.cwd);
  const user = parseAgentFiles(readUserAgentFiles(join(userFolder(input, folder), 'agents')));
  const project = readProjectAgents(folder, input.data_folder);
  const own = project.trust === 'trusted' ? parseAgentFiles(project.raw) : null;
  const profiles = new Map<string, Profile>();
  const { file, configuration } = input.loaded;
  const configured = settingsProfiles(configuration, KNOWN, `in ${file}`);
  const ranked = [configured, user.profiles, own?.profiles ?? [], BUILT_IN_PROFILES];
  for (const profile of ranked.flat()) if (!profiles.has(profile.name)) profiles.set(profile.name, profile);
  const untrusted = untrustedNotice(project);
  // Of a folder that is not trusted one line is enough.
  const folder_notices = untrusted === null ? (own?.notices ?? project.raw.notices) : [untrusted];
  return { profiles, notices: [...user.notices, ...folder_notices], project };
}

export function workingFolder(named: string | undefined): string {
  const folder = resolve(named ?? '.');
  try {
    if (!statSync(folder).isDirectory()) throw new CoppiceError('E_NO_FOLDER', `${folder} is not a folder`);
    return realpathSync.native(folder);
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    throw new CoppiceError('E_NO_FOLDER', `the folder ${folder} cannot be used`, { cause: error });
  }
}

/**
 * Beside the configuration in use. A configuration that was named out of the working folder brings no agents with it:
 * what a folder brings is trusted by its contents only.
 */
function userFolder({ loaded, env }: ProfilesInput, working_folder: string): string {
  const usual = configFolder(env);
  if (loaded.file === null) return usual;
  const beside = resolve(dirname(loaded.file));
  if (beside === resolve(usual)) return usual;
  const place = realpathSync.native(beside);
  const inside = place === working_folder || place.startsWith(working_folder + sep);
  return inside ? usual : beside;
}
