import type { BudgetTerms } from '../../../records/agent/budget.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { fieldsOf } from '../../../records/text/json-fields.ts';
import { parsedObject } from '../../../records/text/json-text.ts';
import { commandIn } from '../../reading/read-answer.ts';
import { budgetOption } from '../acts/child-budget.ts';

/** The options of `fork`, by the parameters of which they are the words. */
const OPTIONS: Readonly<Record<string, string>> = {
  profile: '[--profile NAME]',
  model: '[--model NAME]',
  worktree: '[--worktree]',
  read_first: '[--read-first FILE]…',
  budget: '[--budget usd=N,tokens=N,seconds=N]',
};

const USAGE = {
  send: 'send UUID MESSAGE',
  'check-mail': 'check-mail',
  kill: 'kill UUID…',
} as const;

type CommandName = 'fork' | keyof typeof USAGE;

/** Parameters of `fork` as a model is sent them elsewhere. */
type Offered = Readonly<Record<string, { readonly enum?: readonly string[] }>>;

function forkUsage(offered: Offered): string {
  const words = Object.entries(OPTIONS).flatMap(([parameter, usage]) => {
    const { enum: names = ['NAME'] } = offered[parameter] ?? {};
    return Object.hasOwn(offered, parameter) ? [usage.replace('NAME', names.join('|'))] : [];
  });
  return ['fork', ...words, '[PROMPT]'].join(' ');
}

export type SlashCommand =
  /** `prompt` null: the child inherits its parent's context. */
  | {
      readonly name: 'fork';
      readonly prompt: string | null;
      readonly profile: string | null;
      readonly model?: string;
      readonly worktree?: true;
      readonly read_first?: readonly string[];
      readonly budget?: BudgetTerms;
    }
  | { readonly name: 'send'; readonly to: string; readonly message: string }
  | { readonly name: 'check-mail' }
  | { readonly name: 'kill'; readonly targets: readonly string[] };

export type SlashReading =
  | { readonly ok: true; readonly command: SlashCommand }
  | { readonly ok: false; readonly code: 'INVALID_ARG' | 'UNKNOWN_COMMAND'; readonly error: string };

/** The name of the command, after a prefix that models tend to add. */
const HEAD = /^\s*(?:\/?slash(?=\s|$)\s*)?\/?([^\s]*)/;
/** A word, possibly in quotes; only spaces, tabs and line breaks separate words. */
const WORD = /^[ \t\r\n]*(?:"([^"]*)"|'([^']*)'|([^ \t\r\n]+))(?=[ \t\r\n]|$)/;
/** A word without quotes that is meant as an option. */
const OPTION = /^[ \t\r\n]*(--[a-z][^ \t\r\n]*)/i;
const SEPARATOR = /^(?:\r\n|[ \t\r\n])/;

/**
 * Parses one command. A MESSAGE is everything after the one space or line break that follows the UUID, unchanged to the last character; so is a
 * PROMPT, except for one pair of quotes around all of it. Several commands are refused: no part of a text ever runs as a command. `offered`: the
 * options that the usage of `fork` names.
 */
export function readSlash(written: string, offered: Offered = {}): SlashReading {
  const text = plainCommand(written);
  const [head, word = ''] = HEAD.exec(text) ?? ['', ''];
  const name = word.replace('_', '-');
  if (!isCommand(name)) {
    const what = name === '' ? 'no command' : `unknown command "${cutText(word, 80).toWellFormed()}"`;
    return refused(
      `${what}${waitHint(name)}. Usage:\n${[forkUsage(offered), ...Object.values(USAGE)].join('\n')}`,
      'UNKNOWN_COMMAND',
    );
  }
  const rest = text.slice(head.length);
  const usage = (problem: string) =>
    refused(`${problem}. Usage: ${name === 'fork' ? forkUsage(offered) : USAGE[name]}`);
  const option = OPTION.exec(name === 'fork' ? forkArguments(rest).prompt : rest)?.[1];
  if (option !== undefined)
    return usage(
      `unknown option "${cutText(option, 80).toWellFormed()}"${waitHint(option) || ' (put a text that begins so in quotes)'}`,
    );
  const second = enclosed(argumentsOf(name, rest)) === null ? commandLine(name, rest) : null;
  if (second !== null)
    return refused(
      `only one command per call, but ${second.line === 1 ? 'behind the first' : `line ${second.line}`} is another one: ${JSON.stringify(second.text)}. Nothing was run; make one call for each. In a text, begin such a line with a space, or put the whole text in quotes.`,
    );
  switch (name) {
    case 'fork':
      return readFork(rest, usage);
    case 'send': {
      const to = wordOf(rest);
      if (to === null) return usage('the UUID is missing');
      const message = behind(rest, to.length);
      if (message.trim() === '') return usage('the MESSAGE is empty');
      return { ok: true, command: { name, to: to.text, message } };
    }
    case 'check-mail':
      return rest.trim() === '' ? { ok: true, command: { name } } : usage('check-mail takes no arguments');
    case 'kill': {
      const targets = wordsOf(rest);
      if (targets.length === 0) return usage('the UUID is missing');
      return { ok: true, command: { name, targets } };
    }
  }
}

/** A command that is written as the arguments of a call, as the guidance shows it, or that has arguments in JSON. */
function plainCommand(written: string): string {
  const body = written
    .trim()
    .replace(/^\/?slash\b\s*/, '')
    .replace(/^\(([\s\S]*)\)$/, '$1');
  const { command, ...more } = fieldsOf(parsedObject(body));
  if (typeof command === 'string' && Object.keys(more).length === 0) return command;
  const [, name = '', given = ''] = /^\/?(fork|send)\s+(\{[\s\S]*\})$/.exec(body) ?? [];
  return (name === '' ? null : commandIn(name, fieldsOf(parsedObject(given)))) ?? written;
}

function waitHint(word: string): string {
  return /^-*(wait|sleep|block|poll)/i.test(word) ? ': to wait, end your turn, and mail wakes you' : '';
}

function isCommand(name: string): name is CommandName {
  return name === 'fork' || Object.hasOwn(USAGE, name);
}

function refused(error: string, code: 'INVALID_ARG' | 'UNKNOWN_COMMAND' = 'INVALID_ARG'): SlashReading {
  return { ok: false, code, error };
}

/** Options of `fork` that take a value, with the name of the value for errors. */
const FOLLOWED: Readonly<Record<string, string>> = {
  '--profile': 'the NAME of the profile',
  '--model': 'the NAME of the model',
  '--read-first': 'the FILE',
  '--budget': 'the budget',
};

function readFork(rest: string, usage: (problem: string) => SlashReading): SlashReading {
  const { options, worktree, prompt } = forkArguments(rest);
  const bare = options.find(([, value]) => value === '')?.[0];
  if (bare !== undefined) return usage(`${FOLLOWED[bare]} is missing`);
  const last = (flag: string) => options.findLast(([name]) => name === flag)?.[1];
  const [model, budget] = [last('--model'), last('--budget')];
  const files = options.flatMap(([flag, value]) => (flag === '--read-first' ? [value] : []));
  const amounts = budget === undefined ? null : readBudget(budget);
  if (budget !== undefined && amounts === null) return usage(`"${budget}" is not a valid budget`);
  const done = (text: string | null): SlashReading => ({
    ok: true,
    command: {
      name: 'fork',
      profile: last('--profile') ?? null,
      prompt: text,
      ...(model === undefined ? {} : { model }),
      ...(worktree ? { worktree } : {}),
      ...(files.length === 0 ? {} : { read_first: files }),
      ...(amounts === null ? {} : { budget: amounts }),
    },
  });
  if (prompt.trim() === '') return done(null);
  const text = enclosed(prompt) ?? prompt;
  if (text.trim() !== '') return done(text);
  return usage('the PROMPT is empty: leave it out to give the child your whole context, or say what to do');
}

/** The options before the prompt, with their values; an empty value means that it is missing. */
function forkArguments(rest: string) {
  const options: [flag: string, value: string][] = [];
  let [worktree, prompt] = [false, rest];
  for (let flag = wordOf(prompt); flag !== null; flag = wordOf(prompt)) {
    const [, name = flag.text, joined] = /^(--[a-z-]+)=(.*)$/s.exec(flag.text) ?? [];
    const is_followed = Object.hasOwn(FOLLOWED, name);
    if (!is_followed && flag.text !== '--worktree') break;
    prompt = prompt.slice(flag.length);
    if (!is_followed) {
      worktree = true;
      continue;
    }
    const value = joined === undefined ? wordOf(prompt) : { text: joined, length: 0 };
    options.push([name, value?.text ?? '']);
    prompt = prompt.slice(value?.length ?? 0);
  }
  return { options, worktree, prompt: behind(prompt, 0) };
}

/** Parses a budget such as `usd=0.5,tokens=10000`; null if malformed. */
function readBudget(text: string): BudgetTerms | null {
  const amounts = text.split(',').map((part) => part.split('=', 2));
  const read = budgetOption.safeParse(
    Object.fromEntries(amounts.map(([name, value]) => [name, Number(value || Number.NaN)])),
  );
  return (read.data as BudgetTerms | null | undefined) ?? null;
}

/** The text argument of a command, unchanged; empty if the command takes none. */
function argumentsOf(name: CommandName, rest: string): string {
  if (name === 'fork') return forkArguments(rest).prompt;
  return name === 'send' ? behind(rest, wordOf(rest)?.length ?? 0) : '';
}

function wordsOf(rest: string): readonly string[] {
  const words: string[] = [];
  for (let at = 0, word = wordOf(rest); word !== null; word = wordOf(rest.slice(at))) {
    words.push(word.text);
    at += word.length;
  }
  return words;
}

/** The next word without quotes, and where it ends; null if there is none. */
function wordOf(text: string): { readonly text: string; readonly length: number } | null {
  const found = WORD.exec(text);
  const word = found?.[1] ?? found?.[2] ?? found?.[3] ?? '';
  return found === null || word === '' ? null : { text: word, length: found[0].length };
}

/** Everything after the one separator at this position. */
function behind(text: string, at: number): string {
  return text.slice(at).replace(SEPARATOR, '');
}

/** The text inside one pair of quotes around all of it, with inner quotes escaped as in a shell; null without such a pair. */
export function enclosed(text: string): string | null {
  const whole = text.trim();
  if (whole.length < 2) return null;
  const inner = whole.slice(1, -1);
  if (whole.startsWith("'") && whole.endsWith("'"))
    return inner.replaceAll("'\\''", '').includes("'") ? null : inner.replaceAll("'\\''", "'");
  if (whole.startsWith('"') && whole.endsWith('"'))
    return inner.replace(/\\./gs, '').match(/["\\]/) === null ? inner.replaceAll('\\"', '"') : null;
  return null;
}

/** Matches a line that begins with a slash command, or with a command without the slash that can hardly be anything else. */
const COMMAND_LINE =
  /^(?:\/(?:slash[ \t]+\/?)?(?:fork|send|check-mail|kill)(?=\s|$)|(?:slash[ \t]+)?(?:check-mail[ \t\r]*$|kill[ \t]+[0-9a-f-]{8,}[ \t\r]*$|send[ \t]+[0-9a-f-]{8,}[ \t]|fork[ \t\r]*$|fork[ \t]+(?:["']|--(?:profile|model|worktree|read-first|budget)(?=\s|$))))/m;

/** A command behind the first one as in a shell, after a text in quotes or an id. */
const CHAINED =
  /^("[^"]*"|'[^']*'|[\w-]*)\s*(?:&&|;)\s*((?:\/?slash\s+)?\/?(?:fork|send|check-mail|kill)(?=\s|$).{0,60})/;

/** What looks like a command behind the first one or in a further line; null if there is none. */
function commandLine(
  name: CommandName,
  rest: string,
): { readonly line: number; readonly text: string } | null {
  const [, first = '', chained] = CHAINED.exec(rest.trimStart()) ?? [];
  // A prompt without quotes may hold such words.
  if (chained !== undefined && (name !== 'fork' || !/\w$/.test(first)))
    return { line: 1, text: chained.toWellFormed() };
  const first_end = rest.indexOf('\n');
  if (first_end < 0) return null;
  const further = rest.slice(first_end + 1);
  // A prompt in which each line begins with "fork" is none: the model meant as many children.
  const lines = further.split('\n').filter((line) => line.trim() !== '');
  const are_forks = lines.length > 0 && lines.every((line) => /^\s*fork[ \t]+\S/.test(line));
  const at = are_forks ? further.search(/\S/) : further.search(COMMAND_LINE);
  if (at < 0) return null;
  const text = further.slice(at, at + 80).split('\n', 1)[0] ?? '';
  return { line: further.slice(0, at).split('\n').length + 1, text: text.trimEnd().toWellFormed() };
}
