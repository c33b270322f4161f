import { hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isKnown, maySplit } from './shell-word.ts';

/** Shells whose `-c` text is parsed with bash's grammar, with care if the shell is not bash. */
const shells = new Set(['sh', 'bash', 'rbash', 'dash', 'ash']);

/** Other shells, whose text is not parsed. */
const other_shells = new Set(
  'zsh ksh mksh ksh93 fish csh tcsh yash lksh oksh pdksh hush posh elvish nu ion osh ysh rc es xonsh pwsh powershell'.split(
    ' ',
  ),
);

/** Interpreters, with their options that carry code and those that take the next word. Without code or a file they read code from standard input. */
// biome-ignore format: one row for each
const code_options: readonly (readonly [name: RegExp, code: RegExp, value?: RegExp])[] = [
  [/^(?:python|pypy)[\d.]*$/, /^-[A-Za-z]*c|^-$/, /^-[A-Za-z]*[WX]$|^--check/],
  [/^(?:node|nodejs|bun|tsx|ts-node|deno|electron|vite-node|zx|babel-node|jiti|esno)$/, /^-[a-z]*[ep]|^--(?:eval|print)|^-$|^eval$|data:/, /^-[rC]$|^--(?:require|import|loader|experimental-loader|conditions|env-file|input-type|title|watch-path|disable-warning|stack-trace-limit|max-http-header-size)$/],
  [/^perl[\d.]*$/, /^-\w*[eEx]|^-$|^-[mM].*[ (;]/, /^-I$/],
  [/^(?:ruby|jruby)[\d.]*$/, /^-\w*[ex]|^-$/, /^-[IrCE]$/],
  [/^php[\d.]*$/, /^-[rRBEa]|^--(?:run|process|interactive)|^-$/, /^-[dcz]$/],
  [/^(?:lua|luajit)[\d.]*$/, /^-[ei]|^-$/, /^-l$/],
  [/^(?:R|Rscript|julia|groovy|elixir|raku|scala|swift|osascript|gnuplot|sbcl|guile|racket|clojure|clj|ghc|octave|erl|iex|kotlin|kotlinc|mtxrun|texlua)$/, /^-[eEcr]|^--(?:eval|e)|^-$/],
  [/^(?:tclsh|wish|expect)[\d.]*$/, /^-[c]|^-$/],
  [/^(?:awk|gawk|mawk|nawk)$/, /^$/],
];

const stdin_file = /^\/(?:dev\/(?:stdin|fd\/)|proc\/)/;

export function isInterpreter(name: string): boolean {
  return shells.has(name) || other_shells.has(name) || code_options.some(([names]) => names.test(name));
}

export const readInterpreter: ReadArguments = (words) => {
  const name = words[0]!;
  if (shells.has(name)) return readShell(words);
  if (other_shells.has(name)) return hidden(`what ${name} runs`);
  if (/awk$/.test(name)) return readAwk(words);
  const [, code, value = /^$/] = code_options.find(([names]) => names.test(name))!;
  const rest = words.slice(1);
  if (rest.length === 1 && /^(?:-[vVh]|--(?:version|help))$/.test(rest[0]!)) return [];
  const file = rest.findIndex(
    (word, at) =>
      !word.startsWith('-') &&
      !value.test(rest[at - 1] ?? '-') &&
      !/^(?:run|test|compile|fmt|lint|check|x|install|add|i)$/.test(word),
  );
  const options = file === -1 ? rest : rest.slice(0, file + 1);
  // A word with an unknown beginning may expand to an option.
  if (options.some((word) => code.test(word) || !isKnown(word.slice(0, 1)) || stdin_file.test(word)))
    return hidden(`code that ${name} is given`);
  const module = options.find((word) => /^-\w*m/.test(word));
  if (
    module !== undefined &&
    /^(?:code|pdb|timeit|profile|cProfile|trace|asyncio|IPython)$/.test(
      module.replace(/^-\w*?m/, '') || (rest[file] ?? ''),
    )
  )
    return hidden(`code that ${name} is given`);
  const subcommand = rest[0] !== undefined && /^[a-z]/.test(rest[0]);
  if (file === -1 && !subcommand && !rest.some((word) => /^--(?:test|check|watch|run)/.test(word)))
    return hidden(`code that ${name} reads from its input`);
  return [];
};

/** Reads `bash [options] -c TEXT`: the first word after all options is the text, regardless of the position of `-c`. */
function readShell(words: readonly string[]): readonly InnerCommand[] {
  const name = words[0]!;
  let has_text = false;
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '--' || word === '-') {
      at += 1;
      break;
    }
    if (!/^[-+]/.test(word)) break;
    if (/^--(?:version|help)$/.test(word)) return [];
    if (/^--(?:norc|noprofile|posix|verbose)$/.test(word)) continue;
    // Interactive and login shells read startup files and their input, and expand aliases.
    if (!/^[-+][abcefhkmnptuvxBCEPTo]+$/.test(word)) return hidden(`an option of ${name}`);
    if (word.startsWith('-') && word.includes('c')) has_text = true;
    if (word.includes('o')) at += 1;
  }
  const text = words[at];
  if (!has_text)
    return hidden(text === undefined ? `what ${name} reads from its input` : `the file that ${name} runs`);
  if (text === undefined || !isKnown(text)) return hidden(`what ${name} runs`);
  return [{ text, posix: name !== 'bash' && name !== 'rbash' }];
}

/** Reads awk, whose programs run commands by `system`, pipes and indirect calls. */
function readAwk(words: readonly string[]): readonly InnerCommand[] {
  let at = 1;
  for (; at < words.length && /^-[vF]/.test(words[at]!); at += words[at]!.length === 2 ? 2 : 1);
  if (words[at] === '--') at += 1;
  const program = words[at];
  if (program === undefined || words.slice(1, at).some(maySplit)) return hidden('an awk program');
  const quiet =
    isKnown(program) && !program.startsWith('-') && !/system|@|\|(?!\|)/.test(program.replaceAll('||', ''));
  return quiet ? [] : hidden('an awk program that may run commands');
}
