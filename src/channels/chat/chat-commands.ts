import type { Ask } from '../../records/conversation/ask.ts';
import { questionOf } from '../../records/question/question.ts';
import { writtenValues } from '../../records/question/written-values.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { counted } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { spellHiddenLine } from '../../render/hidden-characters.ts';
import { stateMark } from '../../render/state-mark.ts';
import type { AgentLine, ChatSessions } from '../channel.ts';
import { BOT_COMMANDS, type SlashCommand } from './bot-commands.ts';
import type { FormattedText } from './formatted-text.ts';
import { askText, shownRule } from './parcel-messages.ts';
import { TextBuilder } from './text-builder.ts';

const DOING_MAX = 100;
const SUBJECT_MAX = 200;
/** Maximum characters of an argument in the messages of `/show`, of which `CommandReplies` keeps 50. */
const WHOLE_MAX = 90_000;
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
      return commandsText(
        'Write a message: the agent of this chat reads it. Calls that need your consent come with buttons.',
      );
    case 'agents':
      return await agentsText(place, '', '; write a message to begin');
    case 'kill':
      return command.argument === ''
        ? await agentsText(place, 'Which agent? Write /kill AGENT with one of these names:\n')
        : await kill(place, command.argument);
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
    case 'show':
      return await show(place, command.argument);
    case 'approve':
      return await approve(place, command.argument);
    case 'deny':
      return await deny(place, command.argument);
    default:
      return commandsText(`no such command: /${command.name}`);
  }
}

function commandsText(head: string): FormattedText {
  const lines = BOT_COMMANDS.map(
    ({ name, usage, description }) => `/${name}${usage === '' ? '' : ` ${usage}`} – ${description}`,
  );
  return plain(`${head}\n\n${lines.join('\n')}`);
}

/** `head` precedes the agents of the chat; `hint` is added where there are none. */
async function agentsText({ sessions, chat }: CommandPlace, head: string, hint = ''): Promise<FormattedText> {
  const agents = await sessions.agents(chat);
  if (agents.length === 0) return plain(`no agents in this chat${hint}`);
  const builder = new TextBuilder();
  builder.write(head);
  writeAgents(builder, agents);
  return builder.build();
}

async function kill({ sessions, chat }: CommandPlace, agent: string): Promise<FormattedText> {
  const { name, descendants } = await sessions.kill(chat, agent);
  const below = descendants === 0 ? '' : ` and ${counted(descendants, 'descendant')}`;
  return plain(`killed ${clean(name)}${below}`);
}

async function approve(place: CommandPlace, argument: string): Promise<FormattedText> {
  const [id, rest] = namedIn(argument);
  const always = rest.toLowerCase() === 'always';
  const written = writtenValues(rest);
  const values = written ?? (always || rest === '' ? undefined : { '': rest });
  // Words after the id of a call are no answer to it.
  if (written === null && values !== undefined && !(await asksQuestion(place, id)))
    return plain('write /approve ID, /approve ID always, or /approve ID name=value …');
  return await answer(place, id, { verdict: 'allow', scope: always ? 'agent' : 'once', note: '', values });
}

async function asksQuestion({ sessions, chat }: CommandPlace, id: string): Promise<boolean> {
  const named = (await sessions.asks(chat)).find((one) => id !== '' && one.id.startsWith(id));
  return named !== undefined && questionOf(named) !== null;
}

async function deny(place: CommandPlace, argument: string): Promise<FormattedText> {
  const [id, note] = namedIn(argument);
  return await answer(place, id, { verdict: 'deny', scope: 'once', note });
}

/** The whole question, in as many messages as it takes. */
async function show({ sessions, chat }: CommandPlace, argument: string): Promise<FormattedText> {
  const [id] = namedIn(argument);
  const asks = await sessions.asks(chat);
  const found = asks.find((ask) => id !== '' && ask.id.startsWith(id));
  return found === undefined ? asksText(asks) : askText(found, WHOLE_MAX);
}

const ID = /^[0-9a-f-]{6,36}$/i;

/** The id at the beginning of an argument, empty if there is none, and what follows it. */
function namedIn(argument: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  return [ID.test(word) ? word.toLowerCase() : '', rest];
}

/** Answers the question with this id; without one, lists what waits: the person may not have seen it yet. */
async function answer(
  { sessions, chat, by }: CommandPlace,
  id: string,
  given: Omit<Parameters<ChatSessions['answer']>[2], 'by'>,
): Promise<FormattedText> {
  if (id === '') return asksText(await sessions.asks(chat));
  const { agent_name, tool, granted } = await sessions.answer(chat, id, { ...given, by });
  const sign = given.verdict === 'allow' ? '✓ allowed' : '✗ denied';
  const reach = given.scope === 'agent' ? `; for this agent from now on: ${clean(granted ?? tool)}` : '';
  return plain(`${sign}: ${clean(agent_name)}, ${clean(tool)}${reach}`);
}

function asksText(asks: readonly Ask[]): FormattedText {
  if (asks.length === 0) return plain('nothing waits for you');
  const builder = new TextBuilder();
  writeAsks(builder, asks);
  builder.write('\n/show ID\n/approve ID [always | answer | name=value …]\n/deny ID [reason]');
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
    if (doing !== null) builder.write(` · ${cutText(clean(doing), DOING_MAX)}`);
  });
}

/** Writes one line for each question, and the rule that `always` grants. */
export function writeAsks(builder: TextBuilder, asks: readonly Ask[]): void {
  for (const ask of asks) {
    builder.code(ask.id.slice(0, 8));
    builder.write(` ${clean(ask.agent_name)} wants ${clean(ask.tool)}`);
    const subject = spellHiddenLine(ask.subject, SUBJECT_MAX);
    if (subject !== '') builder.write(`: ${subject}`);
    const rule = shownRule(ask);
    builder.write(rule === undefined ? '\n' : `\n  always: ${rule}\n`);
  }
}
