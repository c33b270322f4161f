import type { InnerCommand } from './inner-command.ts';
import { isKnown } from './shell-word.ts';

/** Variables that name a command which other programs run, or hold text that bash expands. */
const commands =
  /^(?:PS[0-4]|PROMPT_COMMAND|SHELL|BROWSER|VISUAL|CC|CXX|CPP|RUSTC|FCEDIT|FZF_DEFAULT_COMMAND|npm_config_script_shell|\w*_(?:RUNNER|WRAPPER|LAUNCHER)|\w*(?:PAGER|EDITOR|ASKPASS|_SSH|_SSH_COMMAND|_RSH|EXTERNAL_DIFF|PROXY_COMMAND))$/;

/** Variables that load code, change shell options or hold settings of programs that can run others. */
const loaders =
  /^(?:ENV|BASH_ENV|BASH_FUNC_.*|BASH_CMDS|BASH_ALIASES|BASH_LOADABLES_PATH|SHELLOPTS|BASHOPTS|LD_.*|DYLD_.*|LESSOPEN|LESSCLOSE|PERL5OPT|PERL5DB|PYTHONSTARTUP|PYTHONINSPECT|RUBYOPT|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|(?:GNU)?MAKEFLAGS|TAR_OPTIONS|RIPGREP_CONFIG_PATH|GOFLAGS|EXINIT|VIMINIT|FZF_DEFAULT_OPTS|CARGO_BUILD_.*|GIT_CONFIG.*|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_ALLOW_PROTOCOL)$/;

/** Integer variables of bash, whose assigned values are evaluated as arithmetic. */
const numbers = /^(?:S?RANDOM|SECONDS|HISTCMD|LINENO|OPTIND|OPTERR)$/;

/** Returns what the assignment `NAME=VALUE` causes to run; null for an ordinary variable. */
export function assigned(name: string, value: string): InnerCommand | null {
  if (numbers.test(name)) return { evaluates: true };
  if (loaders.test(name)) return { hidden: `the variable ${name}` };
  if (name === 'NODE_OPTIONS') {
    const plain = isKnown(value) && !/import|require|loader|eval|-r/.test(value);
    return plain ? null : { hidden: 'the variable NODE_OPTIONS' };
  }
  if (!commands.test(name)) return null;
  return isKnown(value) ? { text: value } : { hidden: `the variable ${name}` };
}

/** As `assigned`, for an unknown value. */
export function named(name: string): InnerCommand | null {
  if (/^[A-Za-z_]\w*$/.test(name)) return assigned(name, '\0');
  // A subscript is evaluated, which runs substitutions in it.
  return { hidden: 'a variable with a computed name' };
}

/** As `assigned`, for a word `NAME=VALUE` or `NAME`, as `export` and `env` accept it. */
export function assignedIn(word: string): InnerCommand | null {
  const at = word.indexOf('=');
  if (at === -1) return named(word);
  const name = word.slice(0, at).replace(/\+$/, '');
  if (name.includes('[') || !isKnown(name)) return { hidden: 'a variable with a computed name' };
  return assigned(name, word.slice(at + 1));
}
