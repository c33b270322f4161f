import { closeSync, existsSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { containPath, openContained } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import { workingFolder } from '../../../processes/working-folder.ts';
import { cleanLines } from '../../../render/clean.ts';
import { type ProfilesInput, userFolder } from './profiles.ts';
import { NO_WAIT, readStart, reasonOf } from './read-agent-files.ts';
import { argumentFor, hashAgentFiles, Trust } from './trust.ts';

/** Longer than most; a model reads all of it with every request. */
const FILE_MAX = 32 * 1024;
const ALL_MAX = 64 * 1024;
const USUAL_NAMES = ['AGENTS.md'];

export interface InstructionFile {
  /** Absolute. */
  readonly path: string;
  /** For people and models: relative to the working folder, or that it is the user's own. */
  readonly source: string;
  /** What of it can be used, as the model gets it. */
  readonly text: string;
  /** It is longer than `text`. */
  readonly cut: boolean;
  readonly hash: string;
  /** `own`: of the user's configuration folder, which needs no trust. */
  readonly trust: 'own' | 'trusted' | 'changed' | 'untrusted';
}

export interface InstructionFiles {
  /** The user's own first, then from the outermost folder to the working folder. */
  readonly files: readonly InstructionFile[];
  /** What could not be read, and why. */
  readonly notices: readonly string[];
}

export interface InstructionPlaces {
  /** Canonical. */
  readonly folder: string;
  readonly own_folder: string;
  readonly home: string;
  readonly trust: Trust;
}

/**
 * From the outermost folder to the working folder: up to the root of its git repository; outside of one, as far as below the home folder; elsewhere it
 * alone.
 */
export function projectFolders(folder: string, home: string): string[] {
  const folders: string[] = [];
  for (let current = folder; ; current = dirname(current)) {
    folders.unshift(current);
    const above = dirname(current);
    if (existsSync(join(current, '.git')) || above === home || current === home) return folders;
    if (above === current) return [folder];
  }
}

/** What holds for the working folder. Throws `E_NO_FOLDER`. */
export function loadInstructions(input: ProfilesInput): InstructionFiles {
  const folder = workingFolder(resolve(input.options.cwd ?? '.'));
  const home = input.env.HOME ?? homedir();
  const places = { folder, own_folder: userFolder(input, folder), home, trust: new Trust(input.data_folder) };
  return readInstructionFiles(places, input.loaded.configuration.instructions?.files);
}

/** The files with instructions for agents in a folder: of each folder the first of these names. Never throws for what it finds there. */
export function readInstructionFiles(
  { folder, own_folder, home, trust }: InstructionPlaces,
  names: readonly string[] = USUAL_NAMES,
): InstructionFiles {
  const notices: string[] = [];
  const folders = projectFolders(folder, home);
  const root = folders[0] ?? folder;
  const read = (place: string, own: boolean): InstructionFile[] => {
    const path = names.map((name) => join(place, name)).find(existsSync);
    if (path === undefined) return [];
    const source = own ? `the user's own ${basename(path)}` : printablePath(relative(folder, path));
    try {
      // Links of the user lead anywhere, those of a project not out of it.
      const file = readOne(own ? openSync(path, NO_WAIT) : openContained(containPath(root, path)));
      return [{ ...file, path, source, trust: own ? 'own' : trust.stateOf(path, file.hash) }];
    } catch (error) {
      notices.push(`${source} is ignored: ${reasonOf(error)}`);
      return [];
    }
  };
  const own = read(own_folder, true);
  const project = folders.flatMap((place) => read(place, false));
  return { files: withinAll([...own, ...project]), notices };
}

/** Reads and closes. What is beyond the maximum is never used, so it is not part of the hash. */
function readOne(descriptor: number): Pick<InstructionFile, 'text' | 'cut' | 'hash'> {
  try {
    const { content, whole } = readStart(descriptor, FILE_MAX);
    const hash = hashAgentFiles([{ name: '', content }]);
    return { text: cleanLines(textOf(content)).trim(), cut: !whole, hash };
  } finally {
    closeSync(descriptor);
  }
}

/** Without the half of a character at a cut. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/\ufffd+$/, '');
}

/** The user's own and what is nearest have room first. */
function withinAll(files: readonly InstructionFile[]): InstructionFile[] {
  let left = ALL_MAX;
  const kept = new Map<InstructionFile, InstructionFile>();
  const ranked = [...files.filter(isOwn), ...files.filter((file) => !isOwn(file)).reverse()];
  for (const file of ranked) {
    const bytes = Buffer.from(file.text);
    kept.set(
      file,
      bytes.length <= left ? file : { ...file, text: textOf(bytes.subarray(0, left)), cut: true },
    );
    left = Math.max(0, left - bytes.length);
  }
  return files.map((file) => kept.get(file) ?? file);
}

const isOwn = ({ trust }: InstructionFile): boolean => trust === 'own';

/** Whether the user lets agents follow it. */
export function isUsed({ trust }: Pick<InstructionFile, 'trust'>): boolean {
  return trust === 'own' || trust === 'trusted';
}

/** For people: `40 lines, 2.1 KB; changed since you trusted it`. */
export function sizeOf({ text, cut, trust }: InstructionFile): string {
  const lines = text === '' ? 0 : text.split('\n').length;
  const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${Math.ceil(Buffer.byteLength(text) / 1024)} KB`;
  const state = trust === 'changed' ? 'changed since you trusted it' : null;
  const parts = [size, cut ? 'used as far as that; the file is longer' : null, state];
  return parts.filter((part) => part !== null).join('; ');
}

/** One line about files that are ignored until the user accepts them; null if there are none. */
export function unusedNotice(files: readonly InstructionFile[], folder: string): string | null {
  const unused = files.filter((file) => !isUsed(file));
  if (unused.length === 0) return null;
  const why = unused.some(({ trust }) => trust === 'changed')
    ? 'changed since you trusted it'
    : 'not trusted';
  return `ignored: ${unused.map(({ source }) => source).join(', ')} (${why}); look and accept: coppice trust${argumentFor(folder)}`;
}

const HEAD =
  'Instructions for work in this folder, from files that the user wrote or accepted. Follow them. What the user says to you comes first; of these files, the later ones.';

/** What a model reads of them; empty when none may be used. A file cannot end its own frame. */
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
