import { hidden, type InnerCommand, type ReadArguments } from './inner-command.ts';
import { isKnown, maySplit } from './shell-word.ts';

/** Settings that cannot name a program. */
const plain_setting =
  /^(?:user|color|advice|log|i18n|column)\.|^(?:init\.defaultbranch|core\.(?:quotepath|autocrlf|eol|filemode|ignorecase|longpaths))(?:=|$)|^(?:commit|tag)\.gpgsign=(?:false|no|0)?$|^core\.pager=(?:cat)?$/i;

/** Subcommands that run a command from their arguments or settings. */
const runs_commands =
  /^(?:bisect|submodule|filter-branch|difftool|mergetool|daemon|shell|instaweb|send-email|credential.*|hook|maintenance|merge-index|filter-repo|citool|gui|p4|cvsserver|web--browse|annex|upload-pack|receive-pack|remote-.*|for-each-repo|fast-import)$/;

/** Options whose value is a command; git accepts abbreviations of long options. */
const command_options =
  '--exec --upload-pack --receive-pack --ext-diff --textconv --open-files-in-pager --extcmd --tool --config --template --strategy'.split(
    ' ',
  );

/**
 * Adds the command without its global options, so that rules also match `git -C x push` as `git push`. Settings given on
 * the command line, and subcommands that run commands, are opaque.
 */
export const readGit: ReadArguments = (words) => {
  let at = 1;
  for (; at < words.length && words[at]!.startsWith('-'); at += 1) {
    const word = words[at]!;
    if (word === '-c' || word === '--config-env') {
      at += 1;
      if (words[at] === undefined || maySplit(words[at]!) || !plain_setting.test(words[at]!))
        return hidden('a setting of git');
    } else if (word === '-C' || word === '--git-dir' || word === '--work-tree' || word === '--namespace')
      at += 1;
    else if (/^(?:-c|-p$|--(?:paginate|exec-path=|config-env))/.test(word)) return hidden('a setting of git');
    if (words[at] !== undefined && maySplit(words[at]!)) return hidden('the arguments of git');
  }
  const subcommand = words[at];
  if (subcommand === undefined) return [];
  if (!isKnown(subcommand) || runs_commands.test(subcommand))
    return hidden(isKnown(subcommand) ? `what git ${subcommand} runs` : 'what git runs');
  const rest = words.slice(at + 1);
  if (rest.some((word) => isCommandOption(subcommand, word))) return hidden(`an option of git ${subcommand}`);
  if (/^(?:config|alias)$/.test(subcommand) && !isHarmlessConfig(rest)) return hidden('a setting of git');
  if (subcommand === 'ls-remote' || /^(?:fetch|pull|push|clone)$/.test(subcommand)) {
    if (rest.some((word) => /^(?:ext|fd)::|ProxyCommand/.test(word)))
      return hidden('a remote that is a command');
  }
  const inner: InnerCommand[] = [];
  if (at > 1) inner.push({ words: ['git', ...words.slice(at)] });
  return inner;
};

function isCommandOption(subcommand: string, word: string): boolean {
  if (subcommand === 'commit' || subcommand === 'tag') return false;
  if (word.startsWith('--')) {
    const name = word.split('=', 1)[0]!;
    return (
      name.length > 2 &&
      command_options.some(
        (option) =>
          option.startsWith(name) &&
          !(option === '--strategy' && !/^(?:rebase|merge|pull)$/.test(subcommand)),
      )
    );
  }
  if (!/^-[A-Za-z]/.test(word)) return false;
  if (subcommand === 'rebase') return /^-\w*[xs]/.test(word);
  if (subcommand === 'grep') return word.includes('O');
  if (subcommand === 'clone') return /[cu]/.test(word);
  return subcommand === 'archive' && word.includes('x');
}

/** Whether `git config` only reads, or sets something that cannot name a program. */
function isHarmlessConfig(rest: readonly string[]): boolean {
  if (/^(?:get|list)$/.test(rest[0] ?? '')) return true;
  if (rest.some((word) => /^(?:--get(?:-all|-regexp|-urlmatch)?|--list|-l)$/.test(word))) return true;
  const names = rest.filter((word) => !word.startsWith('-') && word !== 'set' && word !== 'unset');
  return names.length <= 1 || (isKnown(names[0]!) && plain_setting.test(names[0]!));
}
