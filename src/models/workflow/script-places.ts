import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectFolders } from '../../processes/working-folder.ts';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';

/** Folders of workflows in a project and in the home folder, nearest first. */
const PLACES = ['.coppice/workflows', '.claude/workflows'];
const NAMES_MAX = 500;
/** Maximum size of a script, in characters. */
export const SOURCE_MAX = 1_000_000;

export interface SavedScript {
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  /** Whether it is in the home folder of the user, whose scripts need no trust. */
  readonly own: boolean;
}

/** The workflows that a folder can use; of several with one name the nearest. */
export function savedScripts(folder: string, home: string): SavedScript[] {
  const folders = [...projectFolders(folder, home).toReversed(), home];
  const found = new Map<string, SavedScript>();
  for (const one of folders)
    for (const place of PLACES.map((inner) => join(one, inner)))
      for (const file of namesIn(place)) {
        const name = basename(file, '.js');
        if (!found.has(name)) found.set(name, { name, path: join(place, file), own: one === home });
      }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesIn(place: string): string[] {
  const files = orElse(() => readdirSync(place), []);
  const scripts = files.filter((file) => file.endsWith('.js'));
  return scripts.sort().slice(0, NAMES_MAX);
}

/** Reads a script; `wanted`: how it was named. Throws `E_SCRIPT`. */
export function readSource(path: string, wanted: string): string {
  const refused = (why: string) => new CoppiceError('E_SCRIPT', `${wanted}: ${why}`);
  try {
    const about = statSync(path);
    if (!about.isFile()) throw refused('it is not a file');
    if (about.size > SOURCE_MAX * 4)
      throw refused(`it has ${about.size} bytes, which is too much for a script`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refused(code === 'ENOENT' ? 'there is no such file' : String(code ?? error));
  }
}
