import { byProgram, hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isKnown, MANY, maySplit } from './shell-word.ts';
import { assignedIn } from './variable.ts';

/** Command-line grammar of a program that runs its arguments as a command: `NAME [options] [words before] COMMAND…`. */
interface Grammar {
  /** Short options: without a value, with a value, and with an optional value attached to the letter. */
  readonly flags?: string;
  readonly values?: string;
  readonly glued?: string;
  /** Long options: without a value, with a value after `=` or as the next word, and with an optional value after `=`. */
  readonly long?: string;
  readonly long_values?: string;
  readonly long_glued?: string;
  /** Number of words before the command. */
  readonly before?: number;
  /** Whether assignments may precede the command. */
  readonly assigns?: boolean;
  /** Whether it runs a shell if there is no command. */
  readonly shell?: boolean;
  /** Letter of the option whose value is shell text. */
  readonly text?: string;
  /** Whether the arguments are joined to one shell text. */
  readonly joined?: boolean;
}

const spaces =
  'mount uts ipc net pid cgroup time map-root-user map-current-user fork mount-proc keep-caps all';
// biome-ignore format: one program a row
const grammars = byProgram<Grammar>([
  ['nohup busybox toybox corepack ccache sccache distcc builtin', {}],
  // Each architecture is a program of its own; `setarch` takes it as its first argument.
  ['setarch linux32 linux64 x86_64 i386 i686 aarch64 uname26', { flags: 'vRFZLXBIST3', long: '32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb verbose', shell: true }],
  ['sudo', { flags: 'AbEHknPSvBN', values: 'ugpCDhRrtTcU', long: 'non-interactive set-home stdin background reset-timestamp', long_values: 'user group prompt chdir host role type close-from chroot command-timeout', long_glued: 'preserve-env', assigns: true }],
  ['doas', { flags: 'nL', values: 'uC' }],
  ['env', { flags: 'i0v', values: 'uC', long: 'ignore-environment null debug', long_values: 'unset chdir', assigns: true }],
  ['setsid', { flags: 'cfw', long: 'ctty fork wait' }],
  ['nice', { flags: '0123456789', values: 'n', long_values: 'adjustment' }],
  ['ionice', { flags: 't', values: 'cn', long: 'ignore', long_values: 'class classdata' }],
  ['chrt', { flags: 'abdfiorRmvp', values: 'TPD', long: 'fifo rr batch idle other deadline', before: 1 }],
  ['taskset', { flags: 'ac', long: 'all-tasks cpu-list', before: 1 }],
  ['stdbuf', { values: 'ioe', long_values: 'input output error' }],
  ['timeout', { flags: 'fpv', values: 'ks', long: 'preserve-status foreground verbose', long_values: 'kill-after signal', before: 1 }],
  ['time', { flags: 'paqv', values: 'of', long: 'portability append quiet verbose', long_values: 'output format' }],
  ['flock', { flags: 'sxeunoF', values: 'wE', long: 'shared exclusive unlock nonblock nb close no-fork verbose', long_values: 'timeout wait conflict-exit-code', before: 1, text: 'c' }],
  ['prlimit', { flags: '', glued: 'cdefilmnqrstuvxy', long: 'verbose noheadings raw', long_glued: 'as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack' }],
  ['unshare', { flags: 'rcf', glued: 'muinpCTU', values: 'RwSGl', long_values: 'root wd setuid setgid propagation setgroups map-user map-group', long_glued: `${spaces} user kill-child`, shell: true }],
  ['nsenter', { flags: 'aFeZc', glued: 'muinpCTUrw', values: 'tSG', long: 'no-fork preserve-credentials', long_values: 'target setuid setgid', long_glued: `${spaces} user root wd`, shell: true }],
  ['chroot', { long: 'skip-chdir', long_values: 'userspec groups', before: 1, shell: true }],
  ['script', { flags: 'aefq', values: 'BEIOTmotW', long: 'append return flush quiet force', long_values: 'log-in log-out log-io log-timing logging-format output-limit', before: 1, shell: true, text: 'c' }],
  ['watch', { flags: 'bcCdegprtwxf', values: 'nqs', long: 'beep color no-color errexit chgexit exec precise no-rerun no-title no-wrap', long_values: 'interval equexit', long_glued: 'differences', joined: true }],
  ['strace', { flags: 'cCdDfFhiknqrtTvVwxyYzZ', values: 'abeEIoOpPsSuUX' }],
  ['ltrace', { flags: 'bcCfhiLrStTV', values: 'aADeFlnopsuwx' }],
  ['command', { flags: 'p' }],
  ['exec', { flags: 'cl', values: 'a' }],
  ['npx', { flags: 'yq', values: 'pw', long: 'yes no no-install quiet', long_values: 'package workspace' }],
  ['pnpx', { values: 'p', long_values: 'package' }],
  ['bunx', { long: 'bun' }],
  ['uvx', { flags: 'q', values: 'p', long: 'quiet', long_values: 'from with python' }],
  ['xargs', { flags: '0ortxp', values: 'adEILnPsRJS', glued: 'eil', long: 'null no-run-if-empty verbose exit interactive open-tty', long_values: 'arg-file delimiter max-args max-procs max-chars process-slot-var', long_glued: 'max-lines eof' }],
]);

export function isWrapper(name: string): boolean {
  return grammars.has(name);
}

/** Analyses a wrapper by its grammar; an option that the grammar does not have makes it opaque. */
export const readWrapper: ReadArguments = (words) => {
  const name = words[0]!;
  const grammar = grammars.get(name)!;
  const inner: InnerCommand[] = [];
  const at = afterOptions(words, grammar, inner);
  if (at === null) return hidden(`an option of ${name}`);
  if (inner.length > 0) return inner;
  let start = at + (grammar.before ?? 0);
  const before = words.slice(at, start);
  if (before.some(maySplit)) return hidden(`the arguments of ${name}`);
  if (grammar.text !== undefined && words[start]?.startsWith('-') === true)
    return words[start] === `-${grammar.text}`
      ? [innerText(words[start + 1], name)]
      : hidden(`an option of ${name}`);
  // `env -` is `env -i`.
  if (name === 'env' && words[start] === '-') start += 1;
  for (; grammar.assigns === true && words[start]?.includes('=') === true; start += 1) {
    if (maySplit(words[start]!)) return hidden(`the arguments of ${name}`);
    const runs = assignedIn(words[start]!);
    if (runs !== null) inner.push(runs);
  }
  const rest = words.slice(start);
  // Words read from standard input are appended.
  if (name === 'xargs') return [{ words: [...(rest.length === 0 ? ['echo'] : replaced(words, rest)), MANY] }];
  if (rest.length === 0) return grammar.shell === true ? hidden(`the shell of ${name}`) : inner;
  return [...inner, grammar.joined === true ? innerText(rest.join(' '), name) : { words: rest }];
};

/** Index of the first word after the options; null if an option is not in the grammar. Adds shell text in option values to `inner`. */
function afterOptions(words: readonly string[], grammar: Grammar, inner: InnerCommand[]): number | null {
  const named = (list: string | undefined, name: string): boolean => list?.split(' ').includes(name) === true;
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === '--') return at + 1;
    if (!isKnown(word.slice(0, 2))) return null;
    if (!word.startsWith('-') || word === '-') return at;
    if (maySplit(word)) return null;
    if (word.startsWith('--')) {
      const name = word.slice(2).split('=', 1)[0]!;
      if (named(grammar.long_glued, name) || named(grammar.long, name)) continue;
      if (!named(grammar.long_values, name)) return null;
      if (word.includes('=')) continue;
      at += 1;
      if (words[at] === undefined || maySplit(words[at]!)) return null;
      continue;
    }
    for (let letter = 1; letter < word.length; letter += 1) {
      const option = word[letter]!;
      if (grammar.flags?.includes(option)) continue;
      if (grammar.glued?.includes(option)) break;
      const is_text = option === grammar.text;
      if (!is_text && !grammar.values?.includes(option)) return null;
      const glued = letter + 1 < word.length;
      const value = glued ? word.slice(letter + 1) : words[at + 1];
      if (!glued) at += 1;
      if (value === undefined || maySplit(value)) return null;
      if (is_text) inner.push(innerText(value, words[0]!));
      break;
    }
  }
  return at;
}

function innerText(text: string | undefined, name: string): InnerCommand {
  return text !== undefined && isKnown(text)
    ? { text, posix: true }
    : { hidden: `the text that ${name} gives to a shell` };
}

/** Replaces NAME of `xargs -I NAME` wherever it occurs by `MANY`. */
function replaced(words: readonly string[], rest: readonly string[]): readonly string[] {
  const options = words.slice(1, words.length - rest.length);
  const at = options.findIndex((word) => /^-\w*[IiJ]/.test(word));
  if (at === -1) return rest;
  const glued = options[at]!.replace(/^-\w*?[IiJ]/, '');
  const name = glued !== '' ? glued : /[IJ]/.test(options[at]!) ? (options[at + 1] ?? '{}') : '{}';
  return rest.map((word) => word.replaceAll(name, MANY));
}
