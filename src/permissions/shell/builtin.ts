import { byProgram, hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isKnown, maySplit } from './shell-word.ts';
import { assignedIn, named } from './variable.ts';

const nothing: readonly InnerCommand[] = [];

const readEval: ReadArguments = ([, ...words]) => {
  const text = (words[0] === '--' ? words.slice(1) : words).join(' ');
  return isKnown(text) ? [{ text }] : hidden('what eval runs');
};

const readTrap: ReadArguments = ([, ...words]) => {
  if (/^-[lpP]/.test(words[0] ?? '')) return nothing;
  const text = words[words[0] === '--' ? 1 : 0] ?? '';
  if (text === '-') return nothing;
  return isKnown(text) && !text.startsWith('-') ? [{ text }] : hidden('what trap runs');
};

/** Reader for builtins that set the variables they name. Option letters: `values` take a value, `names` take the name of a variable. */
function readNames(values: string, names = ''): ReadArguments {
  return ([, ...words]) => {
    const inner: InnerCommand[] = [];
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at]!;
      if (maySplit(word)) return hidden('which variable is set');
      if (!word.startsWith('-')) {
        inner.push(...keep(assignedIn(word)));
        continue;
      }
      const letter = [...word].findIndex((one) => (values + names).includes(one));
      if (letter === -1) continue;
      // `-pNAME`, or `-p NAME`
      const value = word.slice(letter + 1) || words[++at];
      if (value === undefined) continue;
      if (maySplit(value)) return hidden('which variable is set');
      if (names.includes(word[letter]!)) inner.push(...keep(named(value)));
    }
    return inner;
  };
}

function keep(one: InnerCommand | null): readonly InnerCommand[] {
  return one === null ? [] : [one];
}

const readDeclaration: ReadArguments = (words) => {
  const options = words
    .slice(1)
    .filter((word) => /^[-+]/.test(word))
    .join('');
  if (options.includes('f') || options.includes('p')) return nothing;
  if (options.includes('n')) return hidden('which variable is set');
  const inner: InnerCommand[] = options.includes('i') ? [{ evaluates: true }] : [];
  for (const word of words.slice(1)) {
    if (/^[-+]/.test(word)) continue;
    if (!word.includes('=') && /^\w+$/.test(word)) continue;
    inner.push(...keep(assignedIn(word)));
  }
  return inner;
};

const readPrintf: ReadArguments = ([, ...words]) => {
  const inner: InnerCommand[] = [];
  for (let at = 0; words[at]?.startsWith('-v') === true; at += words[at] === '-v' ? 2 : 1)
    inner.push(...keep(named(words[at] === '-v' ? (words[at + 1] ?? '') : words[at]!.slice(2))));
  return inner;
};

const readTest: ReadArguments = (words) => (words.includes('-v') ? [{ evaluates: true }] : nothing);

const readSet: ReadArguments = ([, ...words]) =>
  words.some((word) => /^[-+]\w*H|histexpand|^history$/.test(word)) ? hidden('history expansion') : nothing;

const readShopt: ReadArguments = ([, ...words]) =>
  words.some((word) => word === 'expand_aliases' || !isKnown(word))
    ? hidden('an option of the shell')
    : nothing;

const readAlias: ReadArguments = ([, ...words]) =>
  words.some((word) => word.includes('=') || !isKnown(word)) ? hidden('an alias') : nothing;

const readMapfile: ReadArguments = (words) =>
  words.some((word) => /^-\w*C/.test(word)) ? hidden('what mapfile runs') : readNames('dnOsuc')(words);

const readJobs: ReadArguments = (words) =>
  words.slice(1).some((word) => /^-\w*x/.test(word) || !isKnown(word)) ? hidden('what jobs runs') : nothing;

const readHash: ReadArguments = (words) =>
  words.some((word) => /^-\w*p/.test(word)) ? hidden('another name for a program') : nothing;

/** Bash builtins that run commands, or set variables that make other programs run commands. */
export const builtins = byProgram<ReadArguments>([
  ['eval', readEval],
  ['trap', readTrap],
  ['. source enable bind complete compgen compopt fc', (words) => hidden(`what ${words[0]} runs`)],
  ['declare typeset local export readonly', readDeclaration],
  ['read', readNames('dinNptu', 'a')],
  ['unset', readNames('')],
  ['getopts', ([, , ...words]) => readNames('')(['getopts', words[0] ?? '\0'])],
  // Job specifications and process ids are not variables.
  ['wait', (words) => readNames('', 'p')(words.filter((word) => !/^%|^\d+$/.test(word)))],
  ['mapfile readarray', readMapfile],
  ['printf', readPrintf],
  ['test [', readTest],
  ['let', () => [{ evaluates: true }]],
  ['set', readSet],
  ['shopt', readShopt],
  ['alias', readAlias],
  ['jobs', readJobs],
  ['hash', readHash],
]);
