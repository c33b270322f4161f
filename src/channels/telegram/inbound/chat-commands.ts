import type { Ask } from '../../../records/conversation/ask.ts';
import { clean } from '../../../render/clean.ts';
import type { ChatDesk } from '../../channel.ts';
import type { FormattedText } from '../text/formatted-text.ts';
import { TextBuilder } from '../text/text-builder.ts';
import { writeAgents } from './agent-lines.ts';
import { writeAsks } from './ask-lines.ts';
import { BOT_COMMANDS } from './bot-commands.ts';
import type { SlashCommand } from './slash-command.ts';

/** Where a command was written, and by whom (`telegram:<user id>`). */
export interface CommandPlace {
  readonly desk: ChatDesk;
  readonly chat: string;
  readonly by: string;
}

/** Does what a command says and tells what came of it. Rejects with what the desk rejects with. */
export async function runCommand(place: CommandPlace, command: SlashCommand): Promise<FormattedText> {
  const { desk, chat } = place;
  switch (command.name) {
    case 'start':
    case 'help':
      return helpText();
    case 'agents':
      return await agentsText(place);
    case 'kill':
      return command.argument === '' ? await whomToKill(place) : await kill(place, command.argument);
    case 'stop':
      return plain((await desk.interrupt(chat)) ? 'stopped' : 'nothing to stop: nobody is at work here');
    case 'new':
      return plain(
        (await desk.renew(chat))
          ? 'this session has ended; your next message begins a new one'
          : 'there was no session; your next message begins one',
      );
    case 'approvals':
      return asksText(await desk.asks(chat));
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

async function agentsText({ desk, chat }: CommandPlace): Promise<FormattedText> {
  const agents = await desk.agents(chat);
  if (agents.length === 0) return plain('nobody works here; write a message to begin');
  const builder = new TextBuilder();
  writeAgents(builder, agents);
  return builder.build();
}

async function whomToKill({ desk, chat }: CommandPlace): Promise<FormattedText> {
  const agents = await desk.agents(chat);
  if (agents.length === 0) return plain('nobody works here');
  const builder = new TextBuilder();
  builder.write('Whom? Write /kill AGENT, with one of these names:\n');
  writeAgents(builder, agents);
  return builder.build();
}

async function kill({ desk, chat }: CommandPlace, agent: string): Promise<FormattedText> {
  const { name, descendants } = await desk.kill(chat, agent);
  const below =
    descendants === 0 ? '' : ` and ${descendants} ${descendants === 1 ? 'descendant' : 'descendants'}`;
  return plain(`killed ${clean(name)}${below}`);
}

async function approve(place: CommandPlace, argument: string): Promise<FormattedText> {
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
  const open = await place.desk.asks(place.chat);
  // Letters alone may be a word of the reason, such as "dead"; they are an id where they fit one.
  const fits = word.length >= 4 && open.some((ask) => ask.id.startsWith(word.toLowerCase()));
  const is_id = fits || (/^[0-9a-f-]{4,36}$/i.test(word) && /\d/.test(word));
  return await answer(place, is_id ? word : null, {
    verdict: 'deny',
    scope: 'once',
    note: is_id ? rest : argument,
  });
}

type Verdict = Omit<Parameters<ChatDesk['answer']>[2], 'by'>;

/** Without an id: the one that waits. Where several wait, none is answered. */
async function answer(place: CommandPlace, id: string | null, verdict: Verdict): Promise<FormattedText> {
  const { desk, chat, by } = place;
  if (id === null) {
    const open = await desk.asks(chat);
    if (open.length !== 1) return asksText(open);
    id = (open[0] as Ask).id;
  }
  const ask = await desk.answer(chat, id.toLowerCase(), { ...verdict, by });
  const sign = verdict.verdict === 'allow' ? '✓ allowed' : '✗ denied';
  const reach = verdict.scope === 'agent' ? ', for this agent from now on' : '';
  return plain(`${sign}: ${clean(ask.agent_name)}, ${clean(ask.tool)}${reach}`);
}

function asksText(asks: readonly Ask[]): FormattedText {
  if (asks.length === 0) return plain('nothing waits for you');
  const builder = new TextBuilder();
  writeAsks(builder, asks);
  builder.write('\n/approve ID [always]\n/deny ID [reason]');
  return builder.build();
}

function plain(text: string): FormattedText {
  return { text, entities: [] };
}
