import { openSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { containPath, openContained } from '../../permissions/path-containment.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { projectFolders } from '../../processes/working-folder.ts';
import { orElse } from '../../records/coppice-error.ts';
import { itemsOf, wordOf } from '../../records/text/json-fields.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { NO_WAIT, readOne, reasonOf } from '../../tools/files/bounded-file.ts';
import { splitFrontMatter } from '../../tools/front-matter.ts';

/** Folders of commands in a project and in the home folder, nearest first. */
const PLACES = ['.coppice/commands', '.claude/commands'];
const FILES_MAX = 500;
const DEPTH_MAX = 6;
/** Fields with a meaning here. That no model calls them is true of all commands. */
const KNOWN = ['description', 'argument-hint', 'allowed-tools', 'model', 'name', 'disable-model-invocation'];

/** A prompt that people call by the name of its file. */
export interface CommandFile {
  /** As it is typed: `review`, or `frontend:component` for a file in the folder `frontend`. */
  readonly name: string;
  readonly path: string;
  /** For people: `.claude/commands/review.md`. */
  readonly source: string;
  /** Whether it is in the home folder: its text is the user's own, and no project's. */
  readonly own: boolean;
  /** Folder out of which links of the file may not lead. */
  readonly root: string;
}

/** What a command's file says. */
export interface CommandText {
  readonly body: string;
  readonly description: string;
  readonly hint: string;
  /** Rules of other programs' form: `Bash(git status:*)`. */
  readonly allowed: readonly string[];
  readonly model: string | null;
  /** Fields that mean nothing here. */
  readonly unknown: readonly string[];
  readonly fault: string | null;
}

/** The commands of a folder; of several with one name the nearest. */
export function commandFiles(folder: string, home: string): CommandFile[] {
  const folders = projectFolders(folder, home);
  const found = new Map<string, CommandFile>();
  for (const place of new Set([...folders.toReversed(), home]))
    for (const inner of PLACES)
      for (const file of filesIn(join(place, inner), '', DEPTH_MAX)) {
        const name = file.slice(0, -'.md'.length).replaceAll('/', ':').replaceAll(/\s+/g, '-');
        const own = place === home;
        const path = join(place, inner, file);
        const source = printablePath(own ? join('~', inner, file) : relative(folder, path));
        // A name with other characters could not be typed, or would not be what it looks like.
        if (/^[\p{L}\d._:-]+$/u.test(name) && !found.has(name) && found.size < FILES_MAX)
          found.set(name, { name, path, source, own, root: folders[0] ?? folder });
      }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Relative paths of the Markdown files below a folder; links to folders are not followed. */
function filesIn(place: string, within: string, depth: number): string[] {
  const entries = orElse(() => readdirSync(join(place, within), { withFileTypes: true }), []);
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, FILES_MAX);
  return sorted.flatMap((entry) => {
    const path = within + entry.name;
    if (entry.isDirectory()) return depth === 0 ? [] : filesIn(place, `${path}/`, depth - 1);
    return /.\.md$/.test(entry.name) ? [path] : [];
  });
}

/** The command that a name means: of this name, or the only one that is called so in some folder. */
export function commandNamed(files: readonly CommandFile[], name: string): CommandFile | null {
  const exact = files.find((file) => file.name === name);
  const inside = files.filter((file) => file.name.endsWith(`:${name}`));
  return exact ?? (inside.length === 1 ? (inside[0] ?? null) : null);
}

/** Reads what the file says; `fault`: why it cannot be used. */
export function readCommandFile({ path, own, root }: CommandFile): CommandText {
  try {
    const content = readOne(own ? openSync(path, NO_WAIT) : openContained(containPath(root, path)));
    // Other programs take a hint such as `[file] [style]` as it is, which is no YAML.
    const hint_line = /^(argument-hint:[ \t]*)(\[.*\S)[ \t]*\r?$/m;
    const quoted = (_: string, key: string, hint: string) => key + JSON.stringify(hint);
    const { fields, body } = splitFrontMatter(
      cleanLines(content.toString('utf8').replace(hint_line, quoted)),
    );
    const line = (key: string) =>
      clean(
        itemsOf(fields.get(key))
          .map((one) => wordOf(one) ?? '')
          .join(' '),
      );
    return {
      ...{ body, hint: line('argument-hint'), model: line('model') || null, fault: null },
      description: line('description') || clean(body.split('\n', 1)[0] ?? ''),
      allowed: line('allowed-tools').match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [],
      unknown: [...fields.keys()].filter((key) => !KNOWN.includes(key)),
    };
  } catch (error) {
    const fault = clean(reasonOf(error));
    return {
      body: '',
      hint: '',
      model: null,
      description: `cannot be used: ${fault}`,
      allowed: [],
      unknown: [],
      fault,
    };
  }
}
