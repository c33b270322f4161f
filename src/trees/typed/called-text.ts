import { randomUUID } from 'node:crypto';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { skillsOf } from '../../records/agent/skill.ts';
import {
  type Attachment,
  type ComposedText,
  withAttachments,
} from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { ServerOffers, ServerPrompt } from '../../records/server-offers.ts';
import { serversOf } from '../../records/server-tools.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { delimiterOf } from '../../records/text/untrusted-text.ts';
import { clean } from '../../render/clean.ts';
import { skill as skillTool } from '../../tools/files/skill.ts';
import { type CommandFile, commandFiles, commandNamed, readCommandFile } from './command-files.ts';
import { type Mention, mentionsIn } from './mentions.ts';
import { NOBODY, readMentioned } from './read-attachments.ts';

/** Where the commands are that are no commands of a program. */
export interface CommandPlace {
  readonly folder: string;
  readonly home: string;
  readonly config: AgentConfig;
  /** Asks the MCP servers of the agent; null if it has none. */
  readonly offers: () => Promise<ServerOffers | null>;
}

/** What a called command becomes, before its shell commands have run. */
export interface CalledText extends Template {
  readonly name: string;
  readonly args: string;
  /** For people: `.claude/commands/review.md`. */
  readonly source: string;
  readonly attachments: readonly Attachment[];
}

export function readCall(line: string): { readonly name: string; readonly args: string } | null {
  const [, name, args = ''] = /^\/([\p{L}\d][^\s/]*)(?:\s+([\s\S]*))?$/u.exec(line.trim()) ?? [];
  return name === undefined ? null : { name, args: args.trim() };
}

/** Reads what a line calls: a file, a skill, or a prompt of an MCP server; null if that is nothing. Throws `E_INVALID_ARGUMENT`. */
export async function calledText(line: string, place: CommandPlace): Promise<CalledText | null> {
  const call = readCall(line);
  if (call === null) return null;
  try {
    return (
      (fileText(call, place) ?? (await skillText(call, place)) ?? (await promptText(call, place))) || null
    );
  } catch (error) {
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      `/${call.name} was not sent: ${clean((error as Error).message)}`,
    );
  }
}

const BRIEF = 60;
type Call = NonNullable<ReturnType<typeof readCall>>;
const PLAIN = {
  commands: [],
  mentions: [],
  own: true,
  allowed: [],
  model: null,
  notices: [],
  attachments: [],
};

function fileText({ name, args }: Call, { folder, home }: CommandPlace): CalledText | null {
  const file = commandNamed(commandFiles(folder, home), name);
  return file && { name, args, source: file.source, attachments: [], ...templateText(file, args) };
}

async function skillText({ name, args }: Call, { folder, config }: CommandPlace): Promise<CalledText | null> {
  const skills = skillsOf(config).filter((one) => one.name === name);
  if (skills.length === 0) return null;
  const { status, output } = await skillTool.run({ name }, { ...NOBODY, cwd: folder, skills });
  if (status !== 'ok') throw new Error(output);
  const task = args === '' ? '' : `\n\nThe task: ${args}`;
  return { ...PLAIN, name, args, source: 'a skill', text: `Follow this skill now.\n\n${output}${task}` };
}

async function promptText(
  { name, args }: Call,
  { config, offers }: CommandPlace,
): Promise<CalledText | null> {
  const server = serversOf(config).find((one) => name.startsWith(`${one}:`));
  const offered = server === undefined ? null : await offers();
  if (offered === null) return null;
  const prompt = offered.prompts.find(({ called }) => called === name);
  if (prompt === undefined) {
    const names = offered.prompts.filter((one) => one.server === server).map(({ called }) => `/${called}`);
    throw new Error(
      `the MCP server has no such prompt, or has not answered. It has: ${names.join(', ') || 'none'}`,
    );
  }
  const source = `a prompt of the MCP server ${prompt.server}`;
  return { ...PLAIN, name, args, source, ...(await offered.prompt(prompt, promptArguments(prompt, args))) };
}

/** The values of a prompt's arguments: by name (`style=short`), or else in their order; the last one takes the rest. */
function promptArguments(prompt: ServerPrompt, args: string): Record<string, string> {
  const words = wordsOf(args);
  const isNamed = (word: string) => prompt.arguments.some(({ name }) => word.startsWith(`${name}=`));
  const values = Object.fromEntries(words.filter(isNamed).map((word) => word.split(/=(.*)/s, 2)));
  const free = words.filter((word) => !isNamed(word));
  const open = prompt.arguments.filter(({ name }) => !Object.hasOwn(values, name));
  for (const [at, { name }] of open.entries()) {
    const value = at === open.length - 1 ? free.slice(at).join(' ') : free[at];
    if (value) values[name] = value;
  }
  const missing = open.filter(({ name, required }) => required && values[name] === undefined);
  const fault = missing.length > 0 ? `it needs ${missing.map(({ name }) => name).join(' and ')}` : null;
  if (fault !== null || (open.length === 0 && free.length > 0))
    throw new Error(`${fault ?? 'it takes no more arguments'}. Usage: /${prompt.called} ${hintOf(prompt)}`);
  return values;
}

/** `FILE [STYLE]`. */
function hintOf({ arguments: fields }: ServerPrompt): string {
  const words = fields.map(({ name, required }) => [clean(name).toUpperCase(), required] as const);
  return words.map(([word, required]) => (required ? word : `[${word}]`)).join(' ');
}

/** Lists have one line for each command. */
function brief(description: string): string {
  return cutText(clean(description), BRIEF, '…');
}

/** What can be called, with what follows the name; the help says where it comes from. */
export function listedCommands({ folder, home, config }: CommandPlace, offers: ServerOffers | null) {
  const files = commandFiles(folder, home).map((file) => {
    const { hint, description } = readCommandFile(file);
    return { name: file.name, hint, help: `${brief(description)} (${file.source})` };
  });
  const skills = skillsOf(config).map(({ name, description }) => ({
    ...{ name, hint: '[TASK]', help: `${brief(description)} (skill)` },
  }));
  const prompts = (offers?.prompts ?? []).map((prompt) => ({
    ...{ name: prompt.called, hint: hintOf(prompt) },
    help: `${brief(prompt.description)} (MCP server ${prompt.server})`,
  }));
  return [...files, ...skills, ...prompts];
}

/** The whole message: with the outputs of its commands, and what it and its arguments mention; and what it may not mention. Throws `E_INVALID_ARGUMENT`. */
export async function composeCalled(
  { name, text, args, commands, own, mentions, attachments }: CalledText,
  outputs: readonly string[],
  place: CommandPlace,
): Promise<{ readonly message: ComposedText; readonly left_out: readonly string[] }> {
  const read = await readMentioned([...mentionsIn(args), ...mentions], place, own ? [] : mentions);
  if (!read.ok) throw new CoppiceError('E_INVALID_ARGUMENT', `/${name} was not sent: ${read.problem}`);
  const told = outputs.map((output, at) => ({ label: `output of ${commands[at]}`, text: output }));
  const all = [...attachments, ...told, ...read.attachments];
  return { message: withAttachments(text, all, delimiterOf(randomUUID())), left_out: read.left_out };
}

interface Template {
  readonly text: string;
  /** Shell commands whose output is attached. */
  readonly commands: readonly string[];
  /** What the file mentions itself; `own`: whether the file is the user's, and may mention anything. */
  readonly mentions: readonly Mention[];
  readonly own: boolean;
  /** What the user's own file allows its shell commands, and the model that it wants. */
  readonly allowed: readonly string[];
  readonly model: string | null;
  /** Sentences for people about what the file says in vain. */
  readonly notices: readonly string[];
}

/** `$ARGUMENTS`, `$ARGUMENTS[0]`, `$1`: the last two are the first word. */
const PLACES = /\$(?:ARGUMENTS(?:\[(\d{1,2})\]|\b)|([1-9]\d?)(?!\d))/g;

/** The words of arguments; quotes keep words together. */
function wordsOf(args: string): string[] {
  return [...args.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll(/"([^"]*)"/g, '$1'));
}

/** Fills a command's file with arguments. Only what the file itself says runs or is mentioned by it, whatever its arguments contain. Throws an Error. */
function templateText(file: CommandFile, args: string): Template {
  const { body, allowed, model, unknown, fault } = readCommandFile(file);
  if (fault !== null) throw new Error(`${file.source}: ${fault}`);
  const { own, source } = file;
  const words = wordsOf(args);
  const pieces = body.split(/!`([^`\n]+)`/).map((piece) =>
    piece.replaceAll(PLACES, (_, from_0?: string, from_1?: string) => {
      const at = from_0 === undefined ? Number(from_1) - 1 : Number(from_0);
      return Number.isNaN(at) ? args : (words[at] ?? '');
    }),
  );
  const commands = pieces.filter((_, at) => at % 2 === 1);
  const text = pieces.map((piece, at) => (at % 2 === 0 ? piece : `[the output of ${piece} is attached]`));
  const typed = new Set(mentionsIn(args).map(({ name }) => name));
  const mentions = mentionsIn(pieces.filter((_, at) => at % 2 === 0).join('\n'));
  const unused = args === '' || body.search(PLACES) >= 0 ? '' : `\n\n${args}`;
  const usable = own && model?.includes('/') ? model : null;
  const notices = [
    ...unknown.map((key) => `"${clean(key)}" is not supported`),
    ...(model === usable || model === 'inherit'
      ? []
      : [own ? `the model ${model} is not used: write provider/model` : 'a project chooses no model']),
    ...(allowed.length === 0
      ? []
      : [
          own
            ? 'allowed-tools holds for its own ! commands only'
            : 'allowed-tools of a project allow nothing',
        ]),
  ].map((notice) => `${source}: ${notice}`);
  return {
    ...{ text: text.join('') + unused, commands, own, notices },
    mentions: mentions.filter(({ name }) => !typed.has(name)),
    allowed: own ? allowed : [],
    model: usable,
  };
}
