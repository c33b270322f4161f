import { didYouMean } from '../../render/nearest-name.ts';
import { Fault, READERS } from './command-arguments.ts';
import { type ArgumentsOf, COMMANDS, type CommandName } from './command-table.ts';

/** A command with its arguments. */
export type ReadCommand = {
  [N in CommandName]: { readonly name: N; readonly arguments: ArgumentsOf<N> };
}[CommandName];

/** Words of other programs that are no command here, and what does it instead. */
const OTHER_WORDS: Readonly<Partial<Record<string, string>>> = {
  init: 'Ask the agent to write AGENTS.md: agents of this folder get it, once you trust it (coppice trust).',
  config: 'coppice doctor shows the configuration file and what it says; /setup connects another model.',
  permissions: '/rules shows what you granted, /mode what is asked; other rules are in the configuration.',
  memory: 'Agents of this folder read its AGENTS.md, once you trust it (coppice trust).',
  doctor: 'coppice doctor, in a shell, checks the configuration, the models and the ledger.',
  redo: '/undo redo puts back what /undo took back.',
};

/** Whether a text is a command: a slash and a word. A path such as `/etc/hosts is odd` is not. */
export function isCommand(text: string): boolean {
  return /^\/[a-z][\w-]*(?::[\w.:-]+)?(\s|$)/i.test(text);
}

/** Whether a word is the name of one of these commands. */
export function isBuiltIn(word: string): boolean {
  return commandCalled(word) !== undefined;
}

/** Whether a text is a command during a capture; lines that begin with `//` never are. */
export function isCaptureCommand(text: string): boolean {
  return commandCalled(/^\/([a-z]+)(?:\s|$)/i.exec(text)?.[1] ?? '')?.in_capture === true;
}

function commandCalled(word: string): (typeof COMMANDS)[number] | undefined {
  const wanted = word.toLowerCase();
  return COMMANDS.find(({ name, aliases = [] }) => name === wanted || aliases.includes(wanted));
}

/** Reads the line of a command; a text says what is wrong with it. */
export function readCommand(line: string): ReadCommand | string {
  const [, word = '', text = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const other = Object.hasOwn(OTHER_WORDS, word.toLowerCase()) ? OTHER_WORDS[word.toLowerCase()] : undefined;
  if (other !== undefined) return other;
  const command = commandCalled(word);
  if (command === undefined) {
    const names = COMMANDS.map(({ name }) => `/${name}`);
    return `no command /${word}. ${didYouMean(`/${word}`, names)}/help shows all.`;
  }
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  const { name, usage, parse } = command;
  const none = words.length > 0 ? new Fault(`/${name} takes no arguments`) : null;
  const given = parse === undefined ? none : READERS[parse]({ words, text });
  if (!(given instanceof Fault)) return { name, arguments: given } as ReadCommand;
  return given.text.endsWith('.') ? given.text : `${given.text}. Usage: ${usage}`;
}
