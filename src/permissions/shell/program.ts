import { builtins } from './builtin.ts';
import { readGit } from './git-arguments.ts';
import { byProgram, hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isInterpreter, readInterpreter } from './interpreter.ts';
import { readSed } from './sed-script.ts';
import { ANY, isKnown, MANY, maySplit } from './shell-word.ts';
import { isWrapper, readWrapper } from './wrapper.ts';

/** Programs that run other programs in ways that are not analysed. */
const opaque = new Set(
  // as another user, in another place or service
  (
    'su runuser pkexec gosu su-exec setpriv capsh machinectl systemd-run run0 dzdo please super login sudoedit visudo vipw runcon sg newgrp bwrap proot firejail schroot arch-chroot ' +
    'systemd-nspawn lxc-attach lxc-execute runc crun ctr crictl sandbox-exec flatpak-spawn ssh-agent gpg-agent sshpass autossh mosh pssh pdsh clush ansible salt fakeroot fakechroot ' +
    // later, many times, when something changes
    'at batch crontab incrontab run-parts parallel sem tsp nq entr watchexec watchfiles watchman-make onchange chokidar concurrently npm-run-all run-s run-p foreman honcho overmind hivemind goreman pm2 forever supervisor ' +
    'hyperfine multitime reflex rerun logrotate start-stop-daemon daemonize daemon mpirun mpiexec srun salloc sbatch qsub bsub ' +
    // with other settings
    'screen tmux zellij byobu dtach abduco unbuffer rlwrap faketime eatmydata torsocks torify tsocks proxychains proxychains4 ifne chronic cpulimit systemd-inhibit dbus-run-session dbus-launch xvfb-run xinit startx ' +
    'chpst softlimit setuidgid setlock envdir envuidgid execlineb tcpserver tcpsvd numactl cgexec choom uclampset catchsegv tini dumb-init catatonit caffeinate nocache gamemoderun optirun primusrun vglrun wine mono ' +
    'envchain dotenv env-cmd cross-env cross-env-shell summon envconsul dotenvx with-contenv ' +
    // debuggers, terminals, editors, and others that have a command language
    'perf valgrind gdb lldb rr uftrace heaptrack kcov kernprof py-spy memray xterm urxvt rxvt st kitty alacritty foot wezterm gnome-terminal konsole terminator tilix x-terminal-emulator xdg-open gtk-launch ' +
    'vi vim view vimdiff nvim ex ed red emacs emacsclient nano pico joe jed mg micro helix hx kak m4 dc socat ipython bpython ptpython jshell irb pry erb telnet ftp lftp mail mailx mutt neomutt openvpn'
  ).split(' '),
);

/** Subcommands of package managers and the like that are followed by a command. */
const runners = byProgram([
  ['npm pnpm yarn', /^(?:exec|x|dlx)$/],
  ['bundle', /^exec$/],
  ['poetry pipenv uv pdm hatch rye', /^run$/],
]);

/** Programs that run a command only with certain arguments, which the pattern matches. */
// biome-ignore format: one pattern a row
const conditional = byProgram([
  ['docker podman nerdctl finch docker-compose podman-compose kubectl oc k3s microk8s minikube nomad toolbox distrobox multipass lxc incus vagrant flatpak snap nix guix spack', /^(?:run|exec|debug|shell|enter|ssh|develop|environment|build-env)$/],
  ['conda mamba micromamba pipx rustup pixi devbox op doppler infisical teller heroku railway fly vault chamber aws-vault sops berglas', /^(?:run|exec|exec-env|exec-file|shell|local|ssh|agent)$/],
  ['direnv mise rtx asdf pyenv rbenv nodenv goenv jenv nvm fnm volta proto rvm opam dune esy cabal stack dotnet composer lerna nx turbo meson consul ip mix lein', /^(?:exec|x|exec-.*|run|run-script|run-commands|do|cmd|devenv|lock|watch|runghc)$/],
  ['tox pueue watchmedo rails wp drush', /^(?:exec|e|add|shell.*|auto-restart|runner|r|console|c|eval|eval-file|php.*|ev)$/],
  ['nix-shell', /^--(?:run|command)/],
  ['go cargo', /^--?(?:exec|toolexec|vettool)|^--config|^-Z/],
  ['cmake', /^-[EP]|^-D\w*(?:LAUNCHER|PROGRAM|COMMAND|EMULATOR)/],
  ['ctest', /^-[SD]|^--(?:build-and-test|test-command|build-makeprogram|script)/],
  ['bazel bazelisk buck2', /^run$|^--(?:run_under|shell_executable|workspace_status_command)/],
  ['ninja just rake invoke inv latexmk gradle', /^-[eEcrIp]$|^-[er].|^--(?:execute|shell|command|init-script)|^-\w*latex=/],
  ['mvn java', /^exec:|^-D?exec|^-XX:On|^-agent|^@/],
  ['prove', /^-\w*[ePM]|^--(?:e|plugin|harness|source|rc)/],
  ['rpm rpmbuild rpmspec', /^-\w*[ED]|^--(?:e|define|pipe|load|macros|rcfile)/],
  ['pandoc', /^-\w*[FL]|^--(?:fi|lu|pdf-engine)/],
  ['hg jj svn gh glab', /^--(?:config|diff|editor|tool)|^(?:alias|extension|ext|fix|run|util)$/],
  ['nodemon yt-dlp youtube-dl aria2c rclone restic borg gpg gpg2 mpv', /^-\w*x|exec|command|program|--(?:on-|rsh|script|external|downloader|photo)/],
  ['fzf helm kustomize', /^--(?:preview|bind|post-renderer|enable-exec|enable-alpha)/],
  ['tcpdump', /^-\w*z/],
  ['bpftrace stap dtrace', /^-\w*c/],
  ['apt apt-get', /^-\w*[oc]|^--(?:option|config)/],
  ['dpkg', /invoke/],
  ['rg bat delta ag ack', /^--(?:pre|pager|hostname-bin)/],
  ['sort', /^--co/],
  ['zip split install', /^-TT|^--(?:u|f|st)/],
  ['diff3 sdiff cpio', /^--(?:di|rs)/],
  ['patch', /^-\w*e|^--e/],
  ['gcc cc g++ clang c++ clang++', /^-wrapper|^-specs|^-B/],
  ['nc ncat nmap', /^-\w*[ec]|exec|^--script/],
  ['man less more', /^-\w*[PH]|^--(?:pager|html)|^\+/],
  ['wget', /^--us|^-e|^--ex/],
  ['scp sftp', /^-\w*[SobD]/],
  ['gs blender gimp tex latex pdftex pdflatex xelatex lualatex', /%pipe%|NOSAFER|^--python|^-[Pb]$|^--batch$|^--?(?:shell-escape|enable-write18)/],
  ['sqlite3 duckdb', /^\.|^--?(?:cmd|init|c)|edit\(|load_extension/],
  ['psql pgcli usql', /\\|program|^-\w*f/i],
  ['mysql mariadb mycli litecli', /\\|^system|^--(?:pager|init-command)/i],
  ['mongosh mongo', /^--eval|\.js$/],
]);

const readConditional: ReadArguments = (words) => {
  const name = words[0]!;
  return words.slice(1).some((word) => conditional.get(name)!.test(word) || !isKnown(word.slice(0, 1)))
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
  const long =
    '--to-command --use-compress-program --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command'.split(
      ' ',
    );
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
    (word, place) => place > 0 && (runners.get(name)!.test(word) || !isKnown(word.slice(0, 1))),
  );
  if (words.some((word) => /script-shell|^explore$/.test(word))) return hidden(`what ${name} runs`);
  if (at === -1) return [];
  if (!runners.get(name)!.test(words[at]!)) return hidden(`the arguments of ${name}`);
  const before = words.slice(1, at).filter((word) => !word.startsWith('-'));
  // A word before it is the value of an option or a command with subcommands (`uv tool run`); or `exec` is the name of a script (`npm run exec`).
  if (before.length > 0)
    return before.length < at - 1 || /^(?:tool|env)$/.test(before[0]!) ? hidden(`what ${name} runs`) : [];
  const rest = words.slice(words[at + 1] === '--' ? at + 2 : at + 1);
  if (rest[0] === undefined || rest[0].startsWith('-')) return hidden(`what ${name} runs`);
  return [{ words: rest }];
};

const programs: ReadonlyMap<string, ReadArguments> = new Map([
  ...builtins,
  ...byProgram<ReadArguments>([
    ['find gfind bfs', readFind],
    ['fd fdfind', readFd],
    ['git', readGit],
    ['sed gsed', readSed],
    ['tar gtar bsdtar', readTar],
    ['rsync', readRsync],
    ['make gmake bmake remake', readMake],
    ['ssh', readSsh],
  ]),
]);

/** What somebody should know who allows all calls of a program by the rule; nothing for most rules. */
export function ruleNotice(text: string): readonly string[] {
  const program = /^bash:\s*([^\s*]+)\s*\*$/.exec(text.trim())?.[1] ?? '';
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (isInterpreter(name)) return [`${text} allows any code: ${name} runs what it is given`];
  const tables = [opaque, runners, conditional, programs];
  if (!isWrapper(name) && (builtins.has(name) || !tables.some((table) => table.has(name)))) return [];
  return [
    `${text}: ${name} can run other programs; calls in which it does still ask, unless the rule spells them out`,
  ];
}

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
  // Git has its subcommands as programs, too.
  if (name.startsWith('git-')) return [{ words: ['git', name.slice(4), ...words.slice(1)] }];
  if (opaque.has(name) || /^(?:ld-linux|ld-musl|ld\.so|qemu-)/.test(name)) return hidden(`what ${name} runs`);
  if (name === 'command' && /^-p?[vV]/.test(words[1] ?? '')) return [];
  if (isWrapper(name)) return readWrapper(words);
  if (isInterpreter(name)) return readInterpreter(words);
  if (runners.has(name)) return readRunner(words);
  if (conditional.has(name)) return readConditional(words);
  return [];
};
