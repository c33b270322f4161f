import type { Ask } from '../../../records/conversation/ask.ts';
import { writtenValues } from '../../../records/question/written-values.ts';
import { clean } from '../../../render/clean.ts';
import { spellHiddenLine } from '../../../render/hidden-characters.ts';
import { shortIds } from '../../../render/short-ids.ts';
import { stateMark } from '../../../render/state-mark.ts';
import type { AgentLine, ChatSessions } from '../../channel.ts';
import type { FormattedText } from '../text/formatted-text.ts';
import { TextBuilder } from '../text/text-builder.ts';
import type { SlashCommand } from './bot-commands.ts';
import { BOT_COMMANDS } from './bot-commands.ts';

const DOING_MAX = 100;
const SUBJECT_MAX = 200;
const MARKS = { colour: false, unicode: true } as const;

/** Origin of a command: its chat, and its author as `telegram:<user id>`. */
export interface CommandPlace {
  readonly sessions: ChatSessions;
  readonly chat: string;
  readonly by: string;
}

/** Carries out a command; resolves to its reply. Rejects with the errors of `ChatSessions`. */
export async function runCommand(place: CommandPlace, command: SlashCommand): Promise<FormattedText> {
  const { sessions, chat } = place;
  switch (command.name) {
    case 'start':
    case 'help':
      return helpText();
    case 'agents':
      return await agentsText(place);
    case 'kill':
      return command.argument === '' ? await whomToKill(place) : await kill(place, command.argument);
    case 'stop':
      return plain((await sessions.interrupt(chat)) ? 'stopped' : 'nothing to stop: no agent is working');
    case 'new':
      return plain(
        (await sessions.renew(chat))
          ? 'this session has ended; your next message begins a new one'
          : 'there was no session; your next message begins one',
      );
    case 'approvals':
      return asksText(await sessions.asks(chat));
    case 'approve':
      return await approve(place, command.argument);
    case 'deny':
      return await deny(place, command.argument);
    default:
      return unknownText(command.name);
  }
}

function helpText(): FormattedText {
  const builder = new TextBuilder();
  builder.write(
    'Write a message: the agent of this chat reads it. Calls that need your consent come with buttons.\n\n',
  );
  writeCommands(builder);
  return builder.build();
}

function unknownText(name: string): FormattedText {
  const builder = new TextBuilder();
  builder.write(`no such command: /${name}\n\n`);
  writeCommands(builder);
  return builder.build();
}

function writeCommands(builder: TextBuilder): void {
  BOT_COMMANDS.forEach(({ name, usage, description }, index) => {
    if (index > 0) builder.write('\n');
    builder.write(`/${name}${usage === '' ? '' : ` ${usage}`} – ${description}`);
  });
}

async function agentsText({ sessions, chat }: CommandPlace): Promise<FormattedText> {
  const agents = await sessions.agents(chat);
  if (agents.length === 0) return plain('no agents in this chat; write a message to begin');
  const builder = new TextBuilder();
  writeAgents(builder, agents);
  return builder.build();
}

async function whomToKill({ sessions, chat }: CommandPlace): Promise<FormattedText> {
  const agents = await sessions.agents(chat);
  if (agents.length === 0) return plain('no agents in this chat');
  const builder = new TextBuilder();
  builder.write('Which agent? Write /kill AGENT with one of these names:\n');
  writeAgents(builder, agents);
  return builder.build();
}

async function kill({ sessions, chat }: CommandPlace, agent: string): Promise<FormattedText> {
  const { name, descendants } = await sessions.kill(chat, agent);
  const below =
    descendants === 0 ? '' : ` and ${descendants} ${descendants === 1 ? 'descendant' : 'descendants'}`;
  return plain(`killed ${clean(name)}${below}`);
}

async function approve(place: CommandPlace, argument: string): Promise<FormattedText> {
  const [, first = '', behind = ''] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  for (const [id, text] of [
    [null, argument],
    [first, behind],
  ] as const) {
    const values = writtenValues(text);
    if (values !== null)
      return await answer(place, id, { verdict: 'allow', scope: 'once', note: '', values });
  }
  const words = argument.split(/\s+/).filter((word) => word !== '');
  const always = words.at(-1)?.toLowerCase() === 'always';
  const ids = always ? words.slice(0, -1) : words;
  if (ids.length > 1) return plain('write /approve, /approve ID, or /approve ID always');
  return await answer(place, ids[0] ?? null, {
    verdict: 'allow',
    scope: always ? 'agent' : 'once',
    note: '',
  });
}

async function deny(place: CommandPlace, argument: string): Promise<FormattedText> {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  const open = await place.sessions.asks(place.chat);
  // The first word may belong to the reason, such as "dead": it is an id if it matches an open question or contains a digit.
  const fits = word.length >= 4 && open.some((ask) => ask.id.startsWith(word.toLowerCase()));
  const is_id = fits || (/^[0-9a-f-]{4,36}$/i.test(word) && /\d/.test(word));
  return await answer(place, is_id ? word : null, {
    verdict: 'deny',
    scope: 'once',
    note: is_id ? rest : argument,
  });
}

type Verdict = Omit<Parameters<ChatSessions['answer']>[2], 'by'>;

/** Answers the question with this id; with null, the only open question, and with several open ones it lists them instead. */
async function answer(place: CommandPlace, id: string | null, verdict: Verdict): Promise<FormattedText> {
  const { sessions, chat, by } = place;
  if (id === null) {
    const open = await sessions.asks(chat);
    if (open.length !== 1) return asksText(open);
    id = (open[0] as Ask).id;
  }
  const ask = await sessions.answer(chat, id.toLowerCase(), { ...verdict, by });
  const sign = verdict.verdict === 'allow' ? '✓ allowed' : '✗ denied';
  const reach = verdict.scope === 'agent' ? ', for this agent from now on' : '';
  return plain(`${sign}: ${clean(ask.agent_name)}, ${clean(ask.tool)}${reach}`);
}

function asksText(asks: readonly Ask[]): FormattedText {
  if (asks.length === 0) return plain('nothing waits for you');
  const builder = new TextBuilder();
  writeAsks(builder, asks);
  builder.write('\n/approve ID [always | name=value …]\n/deny ID [reason]');
  return builder.build();
}

function plain(text: string): FormattedText {
  return { text, entities: [] };
}

/** Writes one line for each agent, descendants indented. */
function writeAgents(builder: TextBuilder, agents: readonly AgentLine[]): void {
  const top = agents[0]?.depth ?? 0;
  agents.forEach(({ name, depth, status, doing }, index) => {
    if (index > 0) builder.write('\n');
    if (depth > top) builder.write(`${'  '.repeat(depth - top - 1)}└ `);
    builder.styled('bold', () => builder.write(clean(name)));
    builder.write(` ${stateMark(status, MARKS)}`);
    if (doing !== null) builder.write(` · ${clean(doing).slice(0, DOING_MAX).toWellFormed()}`);
  });
}

/** Writes one line for each question, with the shortest unambiguous prefix of its id. */
export function writeAsks(builder: TextBuilder, asks: readonly Ask[]): void {
  const short = shortIds(asks.map((ask) => ask.id));
  for (const ask of asks) {
    builder.code(short.get(ask.id) ?? ask.id);
    builder.write(` ${clean(ask.agent_name)} wants ${clean(ask.tool)}`);
    const subject = spellHiddenLine(ask.subject, SUBJECT_MAX);
    if (subject !== '') builder.write(`: ${subject}`);
    builder.write('\n');
  }
}
