import { changeConfiguration, replaceJson } from '../../../settings/change-configuration.ts';
import { keyFile, readKeys } from '../../../settings/key-file.ts';
import type { Found } from './try-model.ts';

/** Writes what was found: keys to the key file, everything else to the configuration, whose other entries stay. Returns the files that were written. */
export function writeSetup(found: Found, named: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const written: string[] = [];
  if (Object.keys(found.keys).length > 0) {
    replaceJson(keyFile(env), { ...readKeys(env), ...found.keys }, 0o600);
    written.push(keyFile(env));
  }
  const file = changeConfiguration(named, env, (before) => {
    const { providers } = before as { readonly providers?: object };
    return {
      ...before,
      model: found.model,
      ...(Object.keys(found.providers).length === 0
        ? {}
        : { providers: { ...providers, ...found.providers } }),
    };
  });
  return [...written, file];
}
