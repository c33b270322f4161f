import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { orElse } from '../records/coppice-error.ts';
import type { Tool, ToolPermission } from '../records/tool.ts';
import { containPath, isPathTooLong } from './path-containment.ts';
import { type Policy, partialRules } from './policy.ts';
import { analyseCommand, type CommandAnalysis } from './shell/analyse-command.ts';
import { isInterpreter } from './shell/interpreter.ts';
import { MANY } from './shell/shell-word.ts';
import { WordPaths } from './shell/word-paths.ts';
import { takesPath } from './tool-permission.ts';

/** A path that a call touches, and the tool whose path rules apply to it. */
export interface TouchedPath {
  /** Relative to the agent's folder; null: any path, because the command was not fully analysed. */
  readonly path: string | null;
  /** Why it may be any path. */
  readonly why?: string;
  readonly as: string;
  /** Set if the path is a folder that is searched; the files in it are judged one by one. */
  readonly searched?: true;
}

/** Maximum product of words looked up as paths and the folders that they may be relative to; deep folders count more. */
const lookups_max = 1_000;
const levels_per_lookup = 8;
/** Maximum folders that the words of a command may be relative to. Each `cd` can double their number. */
const folders_max = 64;

/**
 * The text that permission rules match: for tools that take a path, its canonical form relative to `cwd`, so that neither `..` nor a
 * symbolic link bypasses a rule; for all others, the tool's own subject. A path outside the folder stays as written; the tool refuses it.
 */
export function permissionSubject<Input>(tool: Tool<Input>, input: Input, cwd: string): string {
  const path = writtenPath(tool, input);
  if (path === undefined) return tool.subject(input, cwd);
  return orElse(() => containPath(cwd, path).relative, path);
}

/** The path of a call as written; undefined for tools that take none. */
export function writtenPath<Input>(tool: Tool<Input>, input: Input): string | undefined {
  if (!takesPath(tool.permission)) return undefined;
  return String((input as { readonly path?: unknown }).path ?? '.');
}

/** The paths that a call touches; `subject` is the path of a tool that takes one, or the command. */
export function callTouches(
  policy: Policy,
  tool: ToolPermission,
  subject: string,
  cwd: string,
): readonly TouchedPath[] {
  if (takesPath(tool)) return touchedPaths(tool, subject, cwd);
  // A command is parsed only if a path rule may apply to it.
  const checked =
    tool.subject === 'command' && tool.bound_by.some((one) => partialRules(policy, one).length > 0);
  return checked ? touchedByCommand(analyseCommand(subject), cwd) : [];
}

/** The touched paths of a tool call on one path. */
export function touchesOf({ bound_by }: ToolPermission, path: string): readonly TouchedPath[] {
  return bound_by.map((as) => ({ path, as }));
}

/** The touched paths of a call: both its canonical path and the path as written. */
export function touchedPaths(tool: ToolPermission, path: string, cwd: string): readonly TouchedPath[] {
  const touched = pathsOf(cwd, cwd, path).flatMap((one) => touchesOf(tool, one));
  return tool.subject === 'folder' ? touched.map((one) => ({ ...one, searched: true })) : touched;
}

/** Programs that write to the files they are given, and the subset that does not read them. */
const writers = new Set(
  'cp mv ln tee dd install rsync sed rm rmdir touch mkdir chmod chown truncate unlink shred'.split(' '),
);
const only_writers = new Set('rm rmdir touch mkdir chmod chown truncate unlink shred tee'.split(' '));
/** Programs whose arguments are not paths. */
const without_paths = new Set(['echo', 'printf', ':', 'true', 'false', 'export', 'exit']);
/** Programs that read names of files from their input, and options that make others do so. */
const reads_names = /^(?:cpio|pax|afio)$|^(?:-@|-T|--files0?-from.*|--pathspec-from-file.*|--from-file.*)$/;

/**
 * Paths that a command touches, as far as its words show: arguments, and the files of redirections. If a command gets words that are known only when it
 * runs, all words of the text count as such. Best effort, not a security boundary; but a command that was not fully analysed may touch any path, so
 * that padding cannot bypass a rule.
 */
function touchedByCommand(
  { commands, opened, unread, hidden, words }: CommandAnalysis,
  cwd: string,
): readonly TouchedPath[] {
  if (unread !== null) return anything(unread);
  if (words.some((word) => /^(?:globstar|dotglob|nocaseglob|extglob)$/.test(word)))
    return anything('other globs');
  const touched: TouchedPath[] = [];
  const word_paths = new WordPaths();
  const folders = foldersOf(commands, cwd, word_paths);
  if (folders.length > folders_max) return anything('it changes folders too often');
  const levels = folders.reduce((sum, folder) => sum + relative(cwd, folder).split(sep).length, 0);
  const lookups_per_word = folders.length + Math.floor(levels / levels_per_lookup);
  let lookups = 0;
  const touch = (word: string, found: Iterable<string>): void => {
    lookups += lookups_per_word;
    if (lookups > lookups_max) return;
    for (const folder of folders)
      for (const named of word_paths.named(folder, word))
        for (const path of word_paths.exhausted ? [] : pathsOf(cwd, folder, named))
          for (const as of found) touched.push({ path, as });
  };
  /** How programs use the words that are known only when they run. */
  const late = new Set<string>();
  for (const [program = '', ...args] of commands) {
    const name = program.slice(program.lastIndexOf('/') + 1);
    if (without_paths.has(name)) continue;
    const found = only_writers.has(name) ? [] : ['read'];
    if (writers.has(name)) found.push('write');
    if (/[\0\x01]/.test(args.join('')) || [name, ...args].some((word) => reads_names.test(word)))
      for (const as of found) late.add(as);
    const has_code = name === 'sed' || isInterpreter(name);
    for (const word of args) for (const part of partsOf(word, has_code)) touch(part, found);
  }
  for (const { path, writes } of opened) {
    const as = writes ? 'write' : 'read';
    touch(path, [as]);
    if (/[\0\x01]/.test(path)) late.add(as);
  }
  // Text in quotes stays one word, unless it is split.
  const gaps = commands.some((args) => args.some((word) => word.includes(MANY))) ? /\s+/ : /\n/;
  if (late.size > 0)
    for (const word of new Set(words.flatMap((text) => text.split(gaps))))
      for (const part of partsOf(word)) touch(part, late);
  // Of what cannot be determined, it may be code.
  if (hidden !== null)
    for (const word of words) for (const part of partsOf(word, true)) touch(part, ['read']);
  if (word_paths.exhausted) return anything('its patterns match too many names');
  return lookups > lookups_max ? anything('it has too many words') : touched;
}

/** Returns all folders that a command may be in at some point, because each `cd` may follow any of those before it; stops beyond `folders_max`. */
function foldersOf(commands: CommandAnalysis['commands'], cwd: string, paths: WordPaths): readonly string[] {
  const folders = new Set([cwd]);
  for (const [program = '', ...words] of commands) {
    const changes = /(?:^|\/)(?:cd|pushd)$/.test(program);
    const to = words.find((word, at) => (changes ? !word.startsWith('-') : words[at - 1] === '-C'));
    if (to === undefined) continue;
    for (const folder of [...folders])
      for (const named of paths.named(folder, to)) folders.add(resolve(folder, named));
    if (folders.size > folders_max) break;
  }
  return [...folders];
}

/** Whether a command writes a file, as far as its words show. */
export function commandWrites(command: string, cwd: string): boolean {
  return touchedByCommand(analyseCommand(command), cwd).some(({ as }) => as === 'write');
}

function anything(why: string): readonly TouchedPath[] {
  return ['read', 'write'].map((as) => ({ path: null, as, why }));
}

/** Parts of a word that may be paths: the word itself, PATH in `--file=PATH`, `-fPATH`, `-xfPATH`, `if=PATH`, `@PATH`, `HEAD:PATH`, `PATH:/there`, and what stands in code. */
function partsOf(word: string, has_code = false): ReadonlySet<string> {
  const parts = word.startsWith('-') ? [2, 3, 4].map((at) => word.slice(at)) : [word];
  const mark = /[=@:]/.exec(word);
  if (mark !== null) parts.push(word.slice(mark.index + 1).replace(/^@/, ''));
  return new Set(
    [...parts, ...word.split(has_code ? /[^\w./~+\0-\x05-]+/ : /[=@:,]/)].filter((part) => part !== ''),
  );
}

/** The canonical path and the path as written, relative to `cwd`; paths outside of it are left out. */
function pathsOf(cwd: string, folder: string, word: string): readonly string[] {
  if (isPathTooLong(word)) return [];
  const paths = new Set<string>();
  const asked = isAbsolute(word) ? resolve(word) : join(folder, word);
  const written = relative(cwd, asked);
  if (written !== '..' && !written.startsWith(`..${sep}`) && !isAbsolute(written))
    paths.add(written === '' ? '.' : written.split(sep).join('/'));
  try {
    paths.add(containPath(cwd, asked).relative);
  } catch {
    // Outside the folder, or not a path: no rule applies.
  }
  return [...paths];
}
