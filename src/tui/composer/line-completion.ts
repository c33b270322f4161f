import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import { countIn } from '../../records/kept-in.ts';
import type { ServerResource } from '../../records/server-offers.ts';
import { mentionOf } from '../../trees/typed/mentions.ts';
import type { FolderFiles } from './attachments/folder-files.ts';
import { matchPaths } from './attachments/match-paths.ts';

export interface LineCompletionSource {
  /** By name without the slash; which arguments are completed with names of agents: the first, or all. */
  readonly commands: () => readonly {
    readonly name: string;
    readonly help: string;
    /** What the list shows instead of the name. */
    readonly label?: string;
    readonly completes?: string;
  }[];
  /** The current agents, oldest first. */
  readonly agents: () => readonly { readonly name: string; readonly description: string }[];
  /** What MCP servers have at addresses. */
  readonly resources: () => readonly ServerResource[];
  /** Texts sent before, oldest first: what was used most is offered first. */
  readonly sent: () => readonly string[];
  /** The folder to which file paths are relative. */
  readonly folder: () => string;
  readonly files: FolderFiles;
}

/** Maximum files offered from one folder. */
const FILES_MAX = 200;
/** Maximum paths offered for a mention; typing more narrows them down. */
const MENTIONS_MAX = 50;
/** A mention that is being typed, at the end of a line; that of a folder may go on although it is closed, behind its quote. */
const MENTION = /(?<![^\s(])@(?:"[^"]*(?:(?<=\/)"[^\s"]*)?|[^\s"]*)$/;
/** The command and the mentions of a sent text. */
const USED = /^\/\S+|(?<![^\s(])@(?:"[^"]*"|\S+)/g;

/**
 * Completes slash commands and mentions (`@file`, `@folder/`, `@agent` as the first word) while they are typed, agent names as arguments of commands, and other
 * file paths on Tab.
 */
export class LineCompletion implements AutocompleteProvider {
  readonly #source: LineCompletionSource;
  /** How often each command and mention was sent, in how many texts of the source. */
  readonly #uses = new Map<string, number>();
  #counted = 0;

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
    const takes = command && this.#source.commands().find(({ name }) => name === command)?.completes;
    const place = before.trimStart().split(/\s+/).length;
    if (takes === 'agents' || (takes === 'agent' && place === 2)) {
      const found = this.#agents(word);
      // A complete name gets no list, because an open list captures Enter.
      return found?.items.some(({ value }) => value === word) === true && !options.force ? null : found;
    }
    const mention = MENTION.exec(before)?.[0];
    if (mention !== undefined) {
      const found = await this.#mentions(mention, line === 0 && before.trim() === mention, options.force);
      // Nor does a complete mention.
      const named = found?.items.some(({ value }) => value === mention) === true && !options.force;
      return options.signal.aborted || named ? null : found;
    }
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
    // The list may be stale: an item that no longer fits the typed text is not inserted.
    const mention = MENTION.exec(typed)?.[0];
    const word = mention ?? (typed.endsWith(prefix) ? prefix : (/\S*$/.exec(typed)?.[0] ?? ''));
    const fits =
      mention === undefined ? item.value.toLowerCase().startsWith(word.toLowerCase()) : mention === prefix;
    if (!fits) return { lines, cursorLine: line, cursorCol: column };
    const before = typed.slice(0, typed.length - word.length);
    const after = text.slice(column);
    // The path of a folder may continue; anything else is complete and gets a space.
    const space = /\/"?$/.test(item.value) || after.startsWith(' ') ? '' : ' ';
    const inserted = `${before}${item.value}${space}`;
    return { lines: lines.with(line, inserted + after), cursorLine: line, cursorCol: inserted.length };
  }

  #commands(before: string): AutocompleteSuggestions | null {
    const items = this.#source
      .commands()
      .filter(({ name }) => `/${name}`.startsWith(before))
      .map(({ name, label = `/${name}`, help }) => ({ value: `/${name}`, label, description: help }));
    return suggestions(this.#mostUsed(items), before);
  }

  #agents(word: string): AutocompleteSuggestions | null {
    const items = this.#source
      .agents()
      .filter(({ name }) => name.toLowerCase().startsWith(word.toLowerCase()))
      .map(({ name, description }) => ({ value: name, label: name, description }));
    return suggestions(items, word);
  }

  /** Matches the query anywhere in the paths of the folder; a query that begins with `/`, `~/`, `./` or `../` is completed one name at a time. */
  async #mentions(
    mention: string,
    first_word: boolean,
    force = false,
  ): Promise<AutocompleteSuggestions | null> {
    const query = mention.replaceAll(/^@|"/g, '');
    if (/^(?:\/|~\/|\.\.?\/)/.test(query)) {
      const files = await this.#files(query);
      if (files === null) return null;
      const items = files.items.map(({ value, label }) => ({ value: mentionOf(value), label }));
      return suggestions(items, mention);
    }
    const agents = first_word ? (this.#agents(query)?.items ?? []) : [];
    const named = agents.map(({ value, label }) => ({
      value: mentionOf(value),
      label: `@${label}`,
      description: 'agent',
    }));
    const all = await this.#source.files.list(this.#source.folder());
    const inside = force && query.endsWith('/') ? all.filter((path) => isInside(path, query)) : [];
    const paths = inside.length > 0 ? inside : matchPaths(all, query, MENTIONS_MAX);
    const items = paths.map((path) => ({ value: mentionOf(path), label: path }));
    const resources = this.#source
      .resources()
      .map(({ server, uri, description }) => ({ label: `${server}:${uri}`, description }))
      .filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()))
      .slice(0, MENTIONS_MAX)
      .map(({ label, description }) => ({ value: mentionOf(label), label: `@${label}`, description }));
    return suggestions(this.#mostUsed([...named, ...items, ...resources]), mention);
  }

  #mostUsed(items: readonly AutocompleteItem[]): AutocompleteItem[] {
    const sent = this.#source.sent();
    for (const text of sent.slice(this.#counted))
      for (const word of text.match(USED) ?? []) countIn(this.#uses, word, 1);
    this.#counted = sent.length;
    return items.toSorted((a, b) => (this.#uses.get(b.value) ?? 0) - (this.#uses.get(a.value) ?? 0));
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
      // Names with control characters or white space cannot be typed as they are.
      .filter(({ name }) => name.startsWith(start) && !/[\p{C}\s]/u.test(name))
      .filter(({ name }) => start !== '' || !name.startsWith('.'))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort()
      .slice(0, FILES_MAX)
      .map((name) => ({ value: `${typed}${name}`, label: name }));
    return suggestions(items, word);
  }
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder) && /^[^/]+\/?$/.test(path.slice(folder.length));
}

/** Null if there is nothing to choose: no item, or only what is already typed. */
function suggestions(items: AutocompleteItem[], prefix: string): AutocompleteSuggestions | null {
  const [only] = items;
  return only === undefined || (items.length === 1 && only.value === prefix) ? null : { items, prefix };
}
