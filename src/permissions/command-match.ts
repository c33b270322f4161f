import { findShell } from '../processes/find-shell.ts';
import { matchesText } from './glob-match.ts';
import { analyseCommand, type CommandAnalysis } from './shell/analyse-command.ts';
import { isInterpreter } from './shell/interpreter.ts';
import { readProgram } from './shell/program.ts';
import { isKnown, MANY, mayMatch, withoutShapes } from './shell/shell-word.ts';

/** Matches a command against the rules of a policy; analysed once, when the first rule needs to know what it runs. */
export class CommandMatch {
  readonly #text: string;
  #analysis: CommandAnalysis | undefined;

  constructor(command: string) {
    // Trims only what the shell treats as white space; any other space is part of a name, and so is an escaped one.
    this.#text = command.replace(/^[ \t\n]+/, '').replace(/(?<![\\ \t\n])[ \t\n]+$/, '');
  }

  get analysis(): CommandAnalysis {
    this.#analysis ??= analyseCommand(this.#text, !findShell().endsWith('/bash'));
    return this.#analysis;
  }

  /** Whether an allow pattern matches: the exact text, or a plain command if everything that it runs matches too. */
  isAllowed(pattern: string): boolean {
    if (pattern === this.#text) return true;
    if (!matchesCommand(pattern, this.#text) || !this.analysis.plain) return false;
    const [[program = '', ...args] = [], ...others] = this.analysis.commands;
    const name = program.slice(program.lastIndexOf('/') + 1);
    // Allowing an interpreter by name allows the code that it is given.
    if (isInterpreter(name)) return true;
    return (
      (this.analysis.hidden === null || isSpelledOut(pattern, name, args)) &&
      others.every((words) => matchesCommand(pattern, words.join(' ')))
    );
  }

  /** Matches a deny or ask pattern against all commands that the text would run. Undefined: no match. `unseen`: why a match is only possible; null: certain. */
  isCaught(pattern: string): { readonly unseen: string | null } | undefined {
    const forms = caughtForms(pattern);
    if (forms.some((one) => matchesCommand(one, this.#text))) return { unseen: null };
    const { commands, hidden } = this.analysis;
    const named = commands.flatMap(namesOf);
    const patterns = forms.flatMap((one) => [one, one.replace(/^\S+/, (program) => program.toLowerCase())]);
    const matches = (words: readonly string[]) =>
      patterns.some((one) => matchesCommand(one, words.join(' ')));
    if (named.some(matches)) return { unseen: null };
    if (hidden !== null) return { unseen: hidden };
    const unclear = named.find((words) => patterns.some((one) => mayMatchCommand(one, words)));
    return unclear === undefined ? undefined : { unseen: `the arguments of ${unclear[0]}` };
  }
}

/** Whether all that makes a program run others stands in the pattern, before a `*`: `docker run *` allows what `docker *` does not. */
function isSpelledOut(pattern: string, name: string, args: readonly string[]): boolean {
  const said = pattern.endsWith(' *') ? pattern.slice(0, -2).split(' ').slice(1) : [];
  const hides = (words: readonly string[]) => readProgram([name, ...words]).length > 0;
  return said.every((word, at) => word === args[at]) && hides(said) && !hides(args.slice(said.length));
}

/** A denied `git push` is denied with whatever arguments follow; other programs write this as `git push:*`. */
function caughtForms(pattern: string): readonly string[] {
  const begin = pattern.replace(/:\*$/, '');
  return pattern.endsWith('*') && begin === pattern ? [pattern] : [pattern, `${begin} *`];
}

function matchesCommand(pattern: string, command: string): boolean {
  // `git *` also matches a bare `git`.
  return matchesText(pattern, command) || (pattern.endsWith(' *') && pattern.slice(0, -2) === command);
}

/** Whether a command with unknown words may match. These may expand to nothing, and `git *` also matches a bare `git`. */
function mayMatchCommand(pattern: string, words: readonly string[]): boolean {
  if (words.every(isKnown)) return false;
  return mayMatch(
    pattern,
    `${words
      .map(withoutShapes)
      .map((word) => (word === MANY ? MANY : ` ${word}`))
      .join('')
      .slice(1)} `,
  );
}

/** The forms of a command that patterns are matched against: as written, without its folder, and in lower case for case-insensitive file systems. */
function namesOf([program = '', ...rest]: readonly string[]): readonly (readonly string[])[] {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return [...new Set([program, name, name.toLowerCase()])].map((one) => [one, ...rest]);
}
