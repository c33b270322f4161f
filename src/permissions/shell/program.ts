import { builtins } from './builtin.ts';
import { readGit } from './git-arguments.ts';
import { hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isInterpreter, readInterpreter } from './interpreter.ts';
import { readSed } from './sed-script.ts';
import { ANY, isKnown, MANY, maySplit } from './shell-word.ts';
import { isWrapper, readWrapper } from './wrapper.ts';

/** Programs that run other programs in ways that are not analysed. */
const opaque = new Set(
  (
    'su runuser pkexec gosu su-exec setpriv capsh machinectl systemd-run at batch crontab run-parts parallel sem ' +
    'screen tmux dtach abduco start-stop-daemon daemonize daemon entr unbuffer rlwrap faketime fakeroot fakechroot ' +
    'proot bwrap firejail eatmydata torsocks proxychains proxychains4 cpulimit systemd-inhibit dbus-run-session ' +
    'xvfb-run chpst softlimit setuidgid envdir envuidgid numactl cgexec perf valgrind hyperfine caffeinate gdb lldb ' +
    'choom uclampset ssh-agent gpg-agent sg newgrp catchsegv tini dumb-init catatonit mpirun mpiexec srun sbatch qsub bsub ' +
    'sandbox-exec flatpak-spawn chronic ifne torify tsocks xterm gnome-terminal konsole cross-env cross-env-shell concurrently watchexec ' +
    'vi vim view vimdiff nvim ex ed red emacs emacsclient m4 dc socat logrotate ipython jshell irb telnet ftp lftp'
  ).split(' '),
);

/** Subcommands of package managers and the like that are followed by a command. */
const runners: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
  bundle: /^exec$/,
  poetry: /^run$/,
  pipenv: /^run$/,
  uv: /^run$/,
  pdm: /^run$/,
  hatch: /^run$/,
  rye: /^run$/,
};

/** Programs that run a command only with certain arguments, which the pattern matches. */
const conditional: Readonly<Record<string, RegExp>> = {
  docker: /^(?:run|exec)$/,
  podman: /^(?:run|exec)$/,
  nerdctl: /^(?:run|exec)$/,
  kubectl: /^(?:exec|debug|run)$/,
  nix: /^(?:shell|develop|run)$/,
  'nix-shell': /^--(?:run|command)/,
  direnv: /^exec$/,
  mise: /^(?:exec|x)$/,
  asdf: /^exec$/,
  conda: /^run$/,
  mamba: /^run$/,
  micromamba: /^run$/,
  pipx: /^run$/,
  rustup: /^run$/,
  pyenv: /^exec$/,
  rbenv: /^exec$/,
  nvm: /^exec$/,
  fnm: /^exec$/,
  'docker-compose': /^(?:run|exec)$/,
  ip: /^exec$/,
  nodemon: /^-\w*x|^--exec/,
  fzf: /^--(?:preview|bind)/,
  tcpdump: /^-\w*z/,
  bpftrace: /^-\w*c/,
  apt: /^-\w*[oc]|^--(?:option|config)/,
  'apt-get': /^-\w*[oc]|^--(?:option|config)/,
  dpkg: /invoke/,
  rg: /^--(?:pre|hostname-bin)/,
  zip: /^-TT|^--u/,
  sort: /^--co/,
  split: /^--f/,
  install: /^--st/,
  diff3: /^--di/,
  sdiff: /^--di/,
  patch: /^-\w*e|^--e/,
  cpio: /^--rs/,
  gcc: /^-wrapper/,
  cc: /^-wrapper/,
  'g++': /^-wrapper/,
  clang: /^-wrapper/,
  nc: /^-\w*[ec]|exec/,
  ncat: /^-\w*[ec]|exec/,
  man: /^-\w*[PH]|^--(?:pager|html)/,
  less: /^\+/,
  more: /^\+/,
  wget: /^--us|^-e|^--ex/,
  scp: /^-\w*[So]/,
  sftp: /^-\w*[SobD]/,
  sqlite3: /^\.|^-(?:cmd|init)|edit\(|load_extension/,
  psql: /\\|program|^-\w*f/i,
  mysql: /\\|^system/i,
};

const readConditional: ReadArguments = (words) => {
  const name = words[0]!;
  return words.slice(1).some((word) => conditional[name]!.test(word) || !isKnown(word.slice(0, 1)))
    ? hidden(`an argument of ${name}`)
    : [];
};

/** Reads `find … -exec COMMAND ;`, where `{}` stands for the files found. */
const readFind: ReadArguments = (words) => {
  const inner: InnerCommand[] = [];
  for (let at = 1; at < words.length; at += 1) {
    if (!isKnown(words[at]!.slice(0, 1))) {
      // The word may expand to `-exec`, if the next word can be a command.
      const next = words[at + 1] ?? ')';
      if (maySplit(words[at]!.slice(0, 1)) || !/^[-!(),]/.test(next)) return hidden('the arguments of find');
    }
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at]!)) continue;
    const end = words.findIndex((word, place) => place > at && (word === ';' || word === '+'));
    const found = words.slice(at + 1, end === -1 ? undefined : end);
    inner.push({ words: found.map((word) => word.replaceAll('{}', MANY)) });
    at = end === -1 ? words.length : end;
  }
  return inner;
};

/** Reads `fd … -x COMMAND`: the command is everything after the option. A word with an unknown beginning may be that option. */
const readFd: ReadArguments = (words) => {
  const at = words.findIndex(
    (word, place) => place > 0 && (!isKnown(word.slice(0, 1)) || /^-\w*[xX]|^--exec/.test(word)),
  );
  if (at === -1) return [];
  if (!/^(?:-[xX]|--exec|--exec-batch)$/.test(words[at]!)) return hidden('an option of fd');
  return [{ words: words.slice(at + 1).map((word) => word.replaceAll(/\{[^}]*\}/g, MANY)) }];
};

/** Reads `tar`, which has options that run commands; long options may be abbreviated. */
const readTar: ReadArguments = (words) => {
  const long = [
    '--to-command',
    '--use-compress-program',
    '--checkpoint-action',
    '--info-script',
    '--new-volume-script',
    '--rsh-command',
    '--rmt-command',
  ];
  const runs = words.slice(1).some((word, at) => {
    if (!isKnown(word.slice(0, 1))) return true;
    if (word.startsWith('--')) {
      const name = word.split('=', 1)[0]!;
      return name.length > 2 && long.some((option) => option.startsWith(name));
    }
    return (word.startsWith('-') || at === 0) && /^-?\w*[IF]/.test(word);
  });
  return runs ? hidden('an option of tar') : [];
};

/** Reads `rsync -e COMMAND`; only ssh is accepted. */
const readRsync: ReadArguments = (words) => {
  const runs = words.slice(1).some((word, at) => {
    if (!isKnown(word.slice(0, 1))) return true;
    if (/^-[A-Za-z]*e$/.test(word) || word === '--rsh') return words[at + 2] !== 'ssh';
    return /^-[A-Za-z]*e.|^--rsh=(?!ssh$)|^--rsync-p/.test(word);
  });
  return runs ? hidden('an option of rsync') : [];
};

/** Reads `make`, whose variables are expanded in recipes, which a shell runs. */
const readMake: ReadArguments = (words) => {
  const inner: InnerCommand[] = [];
  for (const [at, word] of words.entries()) {
    if (/^(?:-\w*E|--ev|-f-|--(?:make)?file=-)/.test(word)) return hidden('an option of make');
    if (
      /^(?:-f|--(?:make)?file)$/.test(word) &&
      (!isKnown(words[at + 1] ?? ANY) || /^(?:-$|\/dev\/|\/proc\/)/.test(words[at + 1]!))
    )
      return hidden('an option of make');
    const value = /^[\w.]+[:?+!]*=([\s\S]*)$/.exec(word)?.[1];
    if (value !== undefined && value !== '')
      inner.push(isKnown(value) ? { text: value, posix: true } : { hidden: 'a variable of make' });
    else if (!isKnown(word.slice(0, 1))) return hidden('the arguments of make');
  }
  return inner;
};

/** Reads `ssh HOST TEXT`: the remote shell runs the words after the host, joined. */
const readSsh: ReadArguments = (words) => {
  let at = 1;
  for (; at < words.length && /^-/.test(words[at]!); at += 1) {
    const option = /^-[46AaCfGgKkMNnqsTtVvXxYy]*([BbcDEeFIiJLlmOopQRSWw])?([\s\S]*)$/.exec(words[at]!);
    const next = option?.[1] !== undefined && option[2] === '';
    const value = option?.[1] === undefined ? '' : next ? (words[at + 1] ?? ANY) : option[2]!;
    if (next) at += 1;
    if (
      option === null ||
      maySplit(value) ||
      /Command|Exec|PKCS11|SecurityKey/i.test(option[1] === 'o' ? value : '') ||
      option[1] === 'F' ||
      (option[1] === undefined && option[2] !== '')
    )
      return hidden('an option of ssh');
  }
  if (words[at] === undefined || maySplit(words[at]!))
    return words[at] === undefined ? [] : hidden('the arguments of ssh');
  const text = words.slice(at + 1).join(' ');
  if (text === '') return hidden('what ssh reads from its input');
  return [isKnown(text) ? { text, posix: true } : { hidden: 'what ssh runs' }];
};

/** Reads `npm exec COMMAND` and similar; options before the command are opaque. */
const readRunner: ReadArguments = (words) => {
  const name = words[0]!;
  const at = words.findIndex(
    (word, place) => place > 0 && (runners[name]!.test(word) || !isKnown(word.slice(0, 1))),
  );
  if (at === -1) return [];
  if (!runners[name]!.test(words[at]!)) return hidden(`the arguments of ${name}`);
  const before = words.slice(1, at).filter((word) => !word.startsWith('-'));
  // A word before it is the value of an option or a command with subcommands (`uv tool run`); or `exec` is the name of a script (`npm run exec`).
  if (before.length > 0)
    return before.length < at - 1 || /^(?:tool|env)$/.test(before[0]!) ? hidden(`what ${name} runs`) : [];
  const rest = words.slice(words[at + 1] === '--' ? at + 2 : at + 1);
  if (rest[0] === undefined || rest[0].startsWith('-')) return hidden(`what ${name} runs`);
  return [{ words: rest }];
};

const programs: ReadonlyMap<string, ReadArguments> = new Map<string, ReadArguments>([
  ...builtins,
  ['find', readFind],
  ['gfind', readFind],
  ['fd', readFd],
  ['fdfind', readFd],
  ['git', readGit],
  ['sed', readSed],
  ['gsed', readSed],
  ['tar', readTar],
  ['gtar', readTar],
  ['bsdtar', readTar],
  ['rsync', readRsync],
  ['make', readMake],
  ['gmake', readMake],
  ['ssh', readSsh],
]);

/** Returns what else a command runs. A program that is not listed here is taken to run nothing else (S3, `analyse-command.ts`). */
export const readProgram: ReadArguments = (words) => {
  // GNU tools have this prefix on systems where the plain names are taken.
  const name = words[0]!.replace(
    /^g(?=(?:timeout|xargs|env|nice|nohup|stdbuf|time|chroot|sort|split|install)$)/,
    '',
  );
  if (name !== words[0]) return readProgram([name, ...words.slice(1)]);
  const read = programs.get(name);
  if (read !== undefined) return read(words);
  if (opaque.has(name) || /^(?:ld-linux|ld-musl|ld\.so)/.test(name)) return hidden(`what ${name} runs`);
  if (name === 'command' && /^-p?[vV]/.test(words[1] ?? '')) return [];
  if (isWrapper(name)) return readWrapper(words);
  if (isInterpreter(name)) return readInterpreter(words);
  if (Object.hasOwn(runners, name)) return readRunner(words);
  if (Object.hasOwn(conditional, name)) return readConditional(words);
  return [];
};
