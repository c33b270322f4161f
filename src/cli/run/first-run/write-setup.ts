import { changeConfiguration, replaceJson } from '../../../settings/change-configuration.ts';
import { keyFile, readKeys } from '../../../settings/key-file.ts';
import type { Found } from './try-model.ts';

/** What is read of a configuration file. */
interface Before {
  readonly providers?: object;
  readonly agents?: { readonly defaults?: { readonly model?: string } };
}

/**
 * Writes what was found: keys to the key file, everything else to the configuration, whose other entries stay. A default model of the agents is replaced too,
 * because it takes precedence. Returns the files that were written.
 */
export function writeSetup(found: Found, named: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const written: string[] = [];
  if (Object.keys(found.keys).length > 0) {
    replaceJson(keyFile(env), { ...readKeys(env), ...found.keys }, 0o600);
    written.push(keyFile(env));
  }
  const file = changeConfiguration(named, env, (before) => {
    const { providers, agents } = before as Before;
    const { model } = found;
    return {
      ...before,
      model,
      ...(agents?.defaults?.model === undefined
        ? {}
        : { agents: { ...agents, defaults: { ...agents.defaults, model } } }),
      ...(Object.keys(found.providers).length === 0
        ? {}
        : { providers: { ...providers, ...found.providers } }),
    };
  });
  return [...written, file];
}
