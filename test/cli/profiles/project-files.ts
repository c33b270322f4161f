import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Configuration } from '../../../src/cli/setup/configuration.ts';
import { loadConfiguration } from '../../../src/cli/setup/load-configuration.ts';
import { type ProjectPlaces, projectPlaces } from '../../../src/cli/setup/profiles/project-places.ts';
import type { Home } from '../run-cli.ts';

/** Writes a file below a home's folder, creating the folders it needs. */
export function putFile(home: Home, path: string, text: string): void {
  const file = join(home.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Returns where a command started in `cwd` looks for project files, and its configuration. */
export async function lookFrom(
  home: Home,
  cwd: string,
): Promise<{ readonly places: ProjectPlaces; readonly configuration: Configuration }> {
  const loaded = await loadConfiguration(undefined, home.env);
  const data_folder = join(home.folder, 'data', 'coppice');
  const places = projectPlaces({ options: { cwd }, env: home.env, loaded, data_folder });
  return { places, configuration: loaded.configuration };
}
