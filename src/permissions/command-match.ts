import { findShell } from '../processes/find-shell.ts';
import { matchesText } from './glob-match.ts';
import { runsCode, type Sight, seeThrough } from './shell/see-through.ts';
import { isKnown, MANY, mayMatch } from './shell/shell-word.ts';

/** One command text under the rules of a policy: it is read once, when the first rule wants to know what it runs. */
export class CommandMatch {
  readonly #text: string;
  #sight: Sight | undefined;

  constructor(command: string) {
    // Only what the shell takes for white space: to it any other space is part of a name.
    this.#text = command.replace(/^[ \t\n]+/, '').replace(/[ \t\n]+$/, '');
  }

  get sight(): Sight {
    this.#sight ??= seeThrough(this.#text, !findShell().endsWith('/bash'));
    return this.#sight;
  }

  /** An allow pattern wants the very text, or a plain command of which all that it runs matches. */
  isAllowed(pattern: string): boolean {
    if (pattern === this.#text) return true;
    if (!matchesCommand(pattern, this.#text) || !this.sight.plain) return false;
    const [command, ...others] = this.sight.commands;
    // Whoever allows an interpreter by its name allows the code that it is given.
    if (runsCode(command!)) return true;
    return this.sight.hidden === null && others.every((words) => matchesCommand(pattern, words.join(' ')));
  }

  /** Deny and ask patterns look at every command that the text would run. Undefined: it does not match; otherwise why. */
  isCaught(pattern: string): { readonly unseen: string | null } | undefined {
    if (matchesCommand(pattern, this.#text)) return { unseen: null };
    const { commands, hidden } = this.sight;
    const named = commands.flatMap(namesOf);
    if (named.some((words) => matchesCommand(pattern, words.join(' ')))) return { unseen: null };
    if (hidden !== null) return { unseen: hidden };
    const unclear = named.find((words) => mayMatchCommand(pattern, words));
    return unclear === undefined ? undefined : { unseen: `the arguments of ${unclear[0]}` };
  }
}

function matchesCommand(pattern: string, command: string): boolean {
  // `git *` is also meant for a bare `git`.
  return matchesText(pattern, command) || (pattern.endsWith(' *') && pattern.slice(0, -2) === command);
}

/** What the shell puts for unknown words may be none, and a bare `git` is meant by `git *`, too. */
function mayMatchCommand(pattern: string, words: readonly string[]): boolean {
  if (words.every(isKnown)) return false;
  return mayMatch(
    pattern,
    `${words
      .map((word) => (word === MANY ? MANY : ` ${word}`))
      .join('')
      .slice(1)} `,
  );
}

/** A command as a pattern may name it: as it is written, without the folder, and as file systems read it that know no case. */
function namesOf([program = '', ...rest]: readonly string[]): readonly (readonly string[])[] {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return [...new Set([program, name, name.toLowerCase()])].map((one) => [one, ...rest]);
}
