import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { containPath, openContained } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import { projectFolders } from '../../../processes/working-folder.ts';
import { counted } from '../../../records/text/text.ts';
import { cleanLines } from '../../../render/clean.ts';
import { NO_WAIT, readStart, reasonOf } from '../../../tools/files/bounded-file.ts';
import { hashFiles } from '../../../tools/files/skill-folder.ts';
import { isUsed, type ProjectPart, type ProjectPlaces } from './project-places.ts';
import type { FoundFiles } from './read-agent-files.ts';

/** Maximum bytes of one file and of all: more than most need, because a model reads all of it with every request. */
const FILE_MAX = 32 * 1024;
const ALL_MAX = 64 * 1024;
/** Names of instruction files, unless the configuration says others. */
export const USUAL_NAMES = ['AGENTS.md'];

export interface InstructionFile extends ProjectPart {
  /** The part of the file that is used, as the model gets it. */
  readonly text: string;
  /** Whether the file is longer than `text`. */
  readonly cut: boolean;
}

/** Reads the instruction files for a folder: the user's own, then in each folder of the project, the outermost first, the first of these names. An unreadable file becomes a notice, not an error. */
export function readInstructionFiles(
  { folder, own_folder, home, trust }: ProjectPlaces,
  names: readonly string[] = USUAL_NAMES,
): FoundFiles<InstructionFile> {
  const notices: string[] = [];
  const folders = projectFolders(folder, home);
  const root = folders[0] ?? folder;
  const read = (place: string, own: boolean): InstructionFile[] => {
    const path = names.map((name) => join(place, name)).find(existsSync);
    if (path === undefined) return [];
    const source = own ? `the user's own ${basename(path)}` : printablePath(relative(folder, path));
    try {
      // Symbolic links of the user may lead anywhere, those of a project not out of it.
      const file = readOne(own ? openSync(path, NO_WAIT) : openContained(containPath(root, path)));
      const state = own ? 'own' : trust.stateOf(path, file.hash);
      return [{ ...file, kind: 'instructions', path, source, trust: state, about: sizeOf(file) }];
    } catch (error) {
      notices.push(`${source} is ignored: ${reasonOf(error)}`);
      return [];
    }
  };
  const own = read(own_folder, true);
  const project = folders.flatMap((place) => read(place, false));
  return { files: withinAll([...own, ...project]), notices };
}

/** Reads and closes a file. Bytes beyond the maximum are never used, so they are not part of the hash. */
function readOne(descriptor: number): Pick<InstructionFile, 'text' | 'cut' | 'hash'> {
  try {
    const { content, whole } = readStart(descriptor, FILE_MAX);
    const hash = hashFiles([{ name: '', content }]);
    return { text: cleanLines(decodeCut(content)).trim(), cut: !whole, hash };
  } finally {
    closeSync(descriptor);
  }
}

/** Decodes UTF-8 without the incomplete character at a cut. */
function decodeCut(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes);
}

/** Cuts files to the maximum of all; the user's own file and the nearest ones take precedence. */
function withinAll(files: readonly InstructionFile[]): InstructionFile[] {
  let left = ALL_MAX;
  const kept = new Map<InstructionFile, InstructionFile>();
  const ranked = [...files.filter(isOwn), ...files.filter((file) => !isOwn(file)).reverse()];
  for (const file of ranked) {
    const bytes = Buffer.from(file.text);
    const head = { text: decodeCut(bytes.subarray(0, left)), cut: true };
    kept.set(file, bytes.length <= left ? file : { ...file, ...head, about: sizeOf(head) });
    left = Math.max(0, left - bytes.length);
  }
  return files.map((file) => kept.get(file) ?? file);
}

const isOwn = ({ trust }: InstructionFile): boolean => trust === 'own';

/** Size for people: `40 lines, 2 KB`. */
function sizeOf({ text, cut }: Pick<InstructionFile, 'text' | 'cut'>): string {
  const lines = text === '' ? 0 : text.split('\n').length;
  const size = `${counted(lines, 'line')}, ${Math.ceil(Buffer.byteLength(text) / 1024)} KB`;
  return cut ? `${size}; truncated: the file is longer` : size;
}

const HEAD =
  'Instructions for work in this folder, from files that the user wrote or accepted. Follow them. What the user says to you comes first; of these files, the later ones.';

/** Returns the instructions as a model reads them; empty if none may be used. Tags are escaped, so that a file cannot end its own frame. */
export function instructionText(files: readonly InstructionFile[]): string {
  const frames = files
    .filter((file) => isUsed(file) && (file.text !== '' || file.cut))
    .map(({ source, text, cut }) => {
      const framed = text.replaceAll(/<(?=\/?instructions)/gi, '&lt;');
      const note = cut ? '\n[… cut here: the file is longer …]' : '';
      return `<instructions from=${JSON.stringify(source)}>\n${framed}${note}\n</instructions>`;
    });
  return frames.length === 0 ? '' : [HEAD, ...frames].join('\n\n');
}
