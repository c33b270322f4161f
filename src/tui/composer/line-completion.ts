import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';

export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What follows it; an agent's name is completed in each place. */
  readonly takes: 'nothing' | 'agent' | 'agents' | 'text';
}

export interface LineCompletionSource {
  readonly commands: readonly SlashCommand[];
  /** The current agents, oldest first. */
  readonly agents: () => readonly { readonly name: string; readonly description: string }[];
  /** The folder to which file paths are relative. */
  readonly folder: () => string;
}

/** Maximum files offered of one folder. */
const FILES_MAX = 200;

/** Completes slash commands while they are typed, agent names as their arguments, and file paths on Tab. */
export class LineCompletion implements AutocompleteProvider {
  readonly #source: LineCompletionSource;

  constructor(source: LineCompletionSource) {
    this.#source = source;
  }

  async getSuggestions(
    lines: string[],
    line: number,
    column: number,
    options: { readonly signal: AbortSignal; readonly force?: boolean },
  ): Promise<AutocompleteSuggestions | null> {
    const before = (lines[line] ?? '').slice(0, column);
    const word = /\S*$/.exec(before)?.[0] ?? '';
    const command = line === 0 ? /^\/(\S+)\s/.exec(before)?.[1] : undefined;
    if (line === 0 && /^\/\S*$/.test(before)) return this.#commands(before);
    const takes = this.#source.commands.find(({ name }) => name === command)?.takes;
    const place = before.trimStart().split(/\s+/).length;
    if (takes === 'agents' || (takes === 'agent' && place === 2)) return this.#agents(word);
    if (!options.force) return null;
    const files = await this.#files(word);
    return options.signal.aborted ? null : files;
  }

  applyCompletion(
    lines: string[],
    line: number,
    column: number,
    item: AutocompleteItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number } {
    const text = lines[line] ?? '';
    const typed = text.slice(0, column);
    // The list may be older than the last keys: what no longer fits is not inserted.
    const word = typed.endsWith(prefix) ? prefix : (/\S*$/.exec(typed)?.[0] ?? '');
    if (!item.value.toLowerCase().startsWith(word.toLowerCase()))
      return { lines, cursorLine: line, cursorCol: column };
    const before = typed.slice(0, typed.length - word.length);
    const after = text.slice(column);
    // The path of a folder goes on; anything else is complete.
    const space = item.value.endsWith('/') || after.startsWith(' ') ? '' : ' ';
    const inserted = `${before}${item.value}${space}`;
    return { lines: lines.with(line, inserted + after), cursorLine: line, cursorCol: inserted.length };
  }

  #commands(before: string): AutocompleteSuggestions | null {
    const items = this.#source.commands
      .filter(({ name }) => `/${name}`.startsWith(before))
      .map(({ name, description }) => ({ value: `/${name}`, label: `/${name}`, description }));
    return suggestions(items, before);
  }

  #agents(word: string): AutocompleteSuggestions | null {
    const items = this.#source
      .agents()
      .filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
      .map(({ name, description }) => ({ value: name, label: name, description }));
    return suggestions(items, word);
  }

  async #files(word: string): Promise<AutocompleteSuggestions | null> {
    const home = word.startsWith('~/') ? homedir() + word.slice(1) : word;
    const path = resolve(this.#source.folder(), home);
    const inside = word === '' || word.endsWith('/');
    const folder = inside ? path : dirname(path);
    const start = inside ? '' : basename(path);
    const typed = word.slice(0, word.length - start.length);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const items = entries
      // A name with a control character or a space could not be typed as it is either.
      .filter(({ name }) => name.startsWith(start) && !/[\p{C}\s]/u.test(name))
      .filter(({ name }) => start !== '' || !name.startsWith('.'))
      .slice(0, FILES_MAX)
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort()
      .map((name) => ({ value: `${typed}${name}`, label: name }));
    return suggestions(items, word);
  }
}

/** Null when there is nothing to choose: no item, or only what is typed already. */
function suggestions(items: AutocompleteItem[], prefix: string): AutocompleteSuggestions | null {
  const [only] = items;
  return only === undefined || (items.length === 1 && only.value === prefix) ? null : { items, prefix };
}
