import { visibleLine } from '../../records/agent/agent-name.ts';
import type { Denied } from '../../records/agent/deeds.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { ToolPermission } from '../../records/tool.ts';
import { CommandMatch } from '../command-match.ts';
import { decide } from '../decide.ts';
import type { Policy } from '../policy.ts';
import { parseRule } from '../rule.ts';
import type { InnerCommand } from '../shell/inner-command.ts';
import { isInterpreter } from '../shell/interpreter.ts';
import { readProgram } from '../shell/program.ts';
import { isWrapper } from '../shell/wrapper.ts';
import { scriptName } from '../tool-permission.ts';
import type { TouchedPath } from '../touched-paths.ts';
import { type AskedCall, coversCall } from './grant.ts';

/** Rules that could be granted for a call, from narrow to wide. Each covers the call. */
export interface ProposedRules {
  readonly rules: readonly string[];
  /** Index of the rule to offer: the narrowest that is useful for other calls too. */
  readonly first: number;
  /** Why there are no rules; null if there are. */
  readonly why: string | null;
}

/** Maximum characters of an exact rule; nobody reads longer ones. */
const EXACT_MAX = 200;
/** Maximum characters of the reason why nothing would allow a call. */
const WHY_MAX = 80;

/** Programs with subcommands. */
const with_subcommands = new Set(
  (
    'git npm pnpm yarn cargo go docker podman kubectl helm gh glab pip pip3 uv poetry pipenv apt apt-get brew systemctl journalctl ' +
    'terraform make gradle mvn dotnet rustup gem bundle composer nix svn hg jj aws gcloud az coppice'
  ).split(' '),
);
/** Subcommands whose effect depends on the next word. */
const says_nothing = /^(?:run|run-script|compose|tool|exec|x)$/;
/** Programs with side effects: the exact command is offered first. */
const changes = new Set(
  (
    'rm rmdir mv cp ln dd tee install rsync sed touch mkdir chmod chown truncate unlink shred kill pkill killall ' +
    'curl wget scp sftp ssh nc ncat mount umount reboot shutdown'
  ).split(' '),
);

/**
 * Proposes rules for a call. Proposes none for a command that cannot be analysed, or whose program can run any other, since a rule for it would allow
 * everything. Pure and total.
 */
export function proposeRules(call: AskedCall): ProposedRules {
  switch (call.subject_kind) {
    case 'command':
      return forCommand(call);
    case 'path':
    case 'folder':
      return forPath(call);
    case 'url':
      return forUrl(call);
    case 'text':
      return checked(call, [...exactly(call), call.tool], 1, 'the name of the tool cannot be a rule');
    case 'script':
      return checked(call, exactly(call), 0, 'its name cannot be part of a rule');
    case 'agents':
      return checked(call, [call.tool], 0, 'the name of the tool cannot be a rule');
    case 'question':
      return none('a question is answered by a person each time');
    default:
      return none('the question is from an older version');
  }
}

/** The rule that is offered first to whoever answers the question about this call; undefined if none is proposed. */
export function offeredRule(call: AskedCall): string | undefined {
  const { rules, first } = proposeRules(call);
  return rules[first];
}

/** The rule with which `--allow` would have let a denied call run, or why there is none; `rule`: the one that denied it. */
export function whatWouldAllow(
  { levels }: Policy,
  call: AskedCall,
  tool: ToolPermission,
  { rule, touched }: { readonly rule: string; readonly touched: readonly TouchedPath[] },
): Pick<Denied, 'allow' | 'why'> {
  const { rules, first, why } = proposeRules(call);
  const [tree, ...profiles] = levels;
  // A model writes a script anew each time, so the rule for later runs names it.
  const by_name = call.subject_kind === 'script' ? [`${call.tool}:${scriptName(call.subject)}`] : null;
  const offered = by_name ?? rules.slice(0, first + 1).reverse();
  const allow = offered.find((one) => {
    const cli = [...(tree?.cli ?? []), parseRule(one, 'allow')];
    const policy = { levels: tree === undefined ? profiles : [{ ...tree, cli }, ...profiles] };
    // Invisible characters would not survive being shown and typed again.
    return (
      one === visibleLine(one).toWellFormed() &&
      decide(policy, tool, call.subject, touched).verdict === 'allow'
    );
  });
  return allow === undefined ? { why: visibleLine(cutText(why ?? rule, WHY_MAX)).toWellFormed() } : { allow };
}

function none(why: string): ProposedRules {
  return { rules: [], first: 0, why };
}

/** Keeps the rules that cover the call. `useful`: index of the rule to offer, if there are enough. */
function checked(call: AskedCall, rules: readonly string[], useful: number, why: string): ProposedRules {
  const covering = [...new Set(rules)].filter((rule) => coversCall(rule, call));
  if (covering.length === 0) return none(why);
  return { rules: covering, first: Math.min(useful, covering.length - 1), why: null };
}

/** The rule for exactly this subject; none if it is too long, or cannot be written as a rule that matches nothing else. */
function exactly({ tool, subject }: AskedCall): readonly string[] {
  const fits = subject.length <= EXACT_MAX && subject === subject.trim() && !/[*\n]/.test(subject);
  return fits && subject !== '' ? [`${tool}:${subject}`] : [];
}

function forCommand(call: AskedCall): ProposedRules {
  const { analysis } = new CommandMatch(call.subject);
  const { commands, hidden, plain } = analysis;
  if (hidden !== null) return none(`it is unclear what it runs (${hidden})`);
  for (const [program = '', ...rest] of commands) {
    const name = nameOf(program);
    if (isInterpreter(name) || isWrapper(name)) return none(`${name} may run anything`);
    if (readProgram([name, ...rest]).some((inner) => runsOther(name, inner)))
      return none(`${name} runs other programs here`);
  }
  const exact = exactly(call);
  if (!plain)
    return checked(call, exact, 0, 'a rule matches one plain command, without operators and redirections');
  const [words = []] = commands;
  const program = words[0] ?? '';
  const only_this = changes.has(nameOf(program)) || program.includes('/');
  if (only_this && exact.length === 0) return none('its text cannot be a rule');
  if (only_this)
    return checked(call, [...exact, ...prefixes(call, words.slice(0, 1))], 0, 'its text cannot be a rule');
  const subcommands = with_subcommands.has(program);
  const kept = subcommands ? leadingWords(words) : [program];
  const rules = checked(call, [...exact, ...prefixes(call, kept)], 0, 'its text cannot be a rule');
  // For `git -C sub log` the subcommand is not known, and `git *` is too wide to be offered first.
  if (subcommands && kept.length === 1 && words.length > 1) return rules;
  const wanted = says_nothing.test(kept[1] ?? '') ? kept.slice(0, 3) : kept.slice(0, 2);
  const first = rules.rules.indexOf(`${call.tool}:${wanted.join(' ')} *`);
  return first === -1 ? rules : { ...rules, first };
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** Whether a program runs another one. Git without its global options is still git. */
function runsOther(name: string, inner: InnerCommand): boolean {
  return 'text' in inner || ('words' in inner && nameOf(inner.words[0] ?? '') !== name);
}

/** The program and up to two words after it that are neither options nor files. */
function leadingWords(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word, at) => at > 0 && (at > 2 || !/^[a-z][\w:-]*$/i.test(word)));
  return end === -1 ? words : words.slice(0, end);
}

/** `git stash drop *`, `git stash *`, `git *`. */
function prefixes({ tool }: AskedCall, words: readonly string[]): readonly string[] {
  return words.map((_, at) => `${tool}:${words.slice(0, words.length - at).join(' ')} *`);
}

/** Proposes the URL, its host over https, its host, then every URL. */
function forUrl(call: AskedCall): ProposedRules {
  const host = URL.parse(call.subject)?.host;
  if (host === undefined) return none('its address cannot be a rule');
  const rules = [...exactly(call), `${call.tool}:https://${host}/*`, `${call.tool}:${host}`, call.tool];
  return checked(call, rules, 1, 'its address cannot be a rule');
}

/** Proposes the file, its parent folders, then all files. */
function forPath(call: AskedCall): ProposedRules {
  const { tool, subject } = call;
  if (/[*\n]|^\/|^\.\.(?:\/|$)/.test(subject) || subject !== subject.trim())
    return none('its path cannot be a rule');
  const parts = subject.split('/');
  // A pattern without `/` would match such a name at any depth.
  const file = parts.length === 1 ? `./${subject}` : subject;
  const folders = parts.slice(0, -1).map((_, at) => `${parts.slice(0, parts.length - 1 - at).join('/')}/**`);
  const rules = [file, ...folders].map((pattern) => `${tool}:${pattern}`);
  return checked(call, [...rules, tool], folders.length > 0 ? 1 : 0, 'its path cannot be a rule');
}
