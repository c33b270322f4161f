import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { projectFolders } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { readMeta, type ScriptMeta, SOURCE_MAX } from './script-source.ts';

/** Folders of workflows in a project and in the home folder, nearest first. */
const PLACES = ['.coppice/workflows', '.claude/workflows'];
const NAMES_MAX = 500;

export interface SavedScript {
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
}

/** A script as it is now. */
export interface LoadedScript extends SavedScript {
  readonly source: string;
  readonly meta: ScriptMeta;
  /** Hash of the source. */
  readonly hash: string;
}

/** The workflows that a folder can use; of several with one name the nearest. */
export function savedScripts(folder: string, home = homedir()): SavedScript[] {
  const folders = [...projectFolders(folder, home).toReversed(), home];
  const found = new Map<string, SavedScript>();
  for (const place of folders.flatMap((one) => PLACES.map((inner) => join(one, inner))))
    for (const file of namesIn(place)) {
      const name = basename(file, '.js');
      if (!found.has(name)) found.set(name, { name, path: join(place, file) });
    }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place)
      .filter((file) => file.endsWith('.js'))
      .sort()
      .slice(0, NAMES_MAX);
  } catch {
    return [];
  }
}

/** Loads a workflow by its name or the path of its script. Throws `E_SCRIPT`. */
export function loadScript(wanted: string, folder: string, home = homedir()): LoadedScript {
  const is_path = /[\\/]|\.m?js$/.test(wanted);
  const all = is_path ? [] : savedScripts(folder, home);
  const path = is_path
    ? isAbsolute(wanted)
      ? wanted
      : resolve(folder, wanted)
    : all.find(({ name }) => name === wanted)?.path;
  if (path === undefined)
    throw new CoppiceError('E_SCRIPT', `there is no workflow "${wanted}"`, {
      hint: nameHint(
        wanted,
        all.map(({ name }) => name),
        'Workflows',
      ),
    });
  return { ...loaded(readSource(path, wanted)), path };
}

/** What a script's text is. Throws `E_SCRIPT`. */
export function loaded(source: string): Omit<LoadedScript, 'path'> {
  const meta = readMeta(source);
  const hash = createHash('sha256').update(source).digest('hex');
  return { name: meta.name, source, meta, hash };
}

function readSource(path: string, wanted: string): string {
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
