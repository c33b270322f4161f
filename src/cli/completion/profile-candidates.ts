import { dataFolder } from '../../settings/folders.ts';
import { loadProfiles } from '../profiles/profiles.ts';
import { loadConfiguration } from '../setup/load-configuration.ts';
import type { Candidate } from './walk-words.ts';

/** Profiles that may be used here. Throws what loading them throws. */
export async function profileCandidates(
  given: { readonly config: string | undefined; readonly cwd: string | undefined },
  env: NodeJS.ProcessEnv,
): Promise<Candidate[]> {
  const loaded = await loadConfiguration(given.config, env);
  const options = given.cwd === undefined ? {} : { cwd: given.cwd };
  const { profiles } = loadProfiles({ options, env, loaded, data_folder: dataFolder(env) });
  return [...profiles.values()].map(({ name, description }) => ({ value: name, description }));
}
