import { clean } from '../../render/clean.ts';
import { type CommandFile, readCommandFile } from './command-files.ts';
import { type Mention, mentionsIn } from './mentions.ts';

export interface Template {
  readonly text: string;
  /** Shell commands whose output is attached. */
  readonly commands: readonly string[];
  /** What the file mentions itself; `own`: whether the file is the user's, and may mention anything. */
  readonly mentions: readonly Mention[];
  readonly own: boolean;
  /** What the user's own file allows its shell commands, and the model that it wants. */
  readonly allowed: readonly string[];
  readonly model: string | null;
  /** Sentences for people about what the file says in vain. */
  readonly notices: readonly string[];
}

/** `$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`: the last two are the first word. */
const PLACES = /\$(?:ARGUMENTS(?:\[(\d{1,2})\]|\b)|([1-9]\d?)(?!\d))/g;

/** The words of arguments; quotes keep words together. */
export function wordsOf(args: string): string[] {
  return [...args.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll(/"([^"]*)"/g, '$1'));
}

/** Fills a command's file with arguments. Only what the file itself says runs or is mentioned by it, whatever its arguments contain. Throws an Error. */
export function templateText(file: CommandFile, args: string): Template {
  const { body, allowed, model, unknown, fault } = readCommandFile(file);
  if (fault !== null) throw new Error(`${file.source}: ${fault}`);
  const { own, source } = file;
  const words = wordsOf(args);
  const pieces = body.split(/!`([^`\n]+)`/).map((piece) =>
    piece.replaceAll(PLACES, (_, from_0?: string, from_1?: string) => {
      const at = from_0 === undefined ? Number(from_1) - 1 : Number(from_0);
      return Number.isNaN(at) ? args : (words[at] ?? '');
    }),
  );
  const commands = pieces.filter((_, at) => at % 2 === 1);
  const text = pieces.map((piece, at) => (at % 2 === 0 ? piece : `[the output of ${piece} is attached]`));
  const typed = new Set(mentionsIn(args).map(({ name }) => name));
  const mentions = mentionsIn(pieces.filter((_, at) => at % 2 === 0).join('\n'));
  const unused = args === '' || body.search(PLACES) >= 0 ? '' : `\n\n${args}`;
  const usable = own && model?.includes('/') ? model : null;
  const notices = [
    ...unknown.map((key) => `"${clean(key)}" is not supported`),
    ...(model === usable || model === 'inherit'
      ? []
      : [own ? `the model ${model} is not used: write provider/model` : 'a project chooses no model']),
    ...(allowed.length === 0
      ? []
      : [
          own
            ? 'allowed-tools holds for its own ! commands only'
            : 'allowed-tools of a project allow nothing',
        ]),
  ].map((notice) => `${source}: ${notice}`);
  return {
    ...{ text: text.join('') + unused, commands, own, notices },
    mentions: mentions.filter(({ name }) => !typed.has(name)),
    allowed: own ? allowed : [],
    model: usable,
  };
}
