export interface BotCommand {
  readonly name: string;
  /** Arguments as the help shows them; empty for none. */
  readonly usage: string;
  readonly description: string;
}

/** Commands in the order in which people see them. */
export const BOT_COMMANDS: readonly BotCommand[] = [
  { name: 'help', usage: '', description: 'list the commands' },
  { name: 'agents', usage: '', description: 'list the agents and what they are doing' },
  { name: 'stop', usage: '', description: 'interrupt the turn' },
  { name: 'new', usage: '', description: 'end the session; the next message begins a new one' },
  { name: 'kill', usage: 'AGENT', description: 'end an agent and all its descendants' },
  { name: 'approvals', usage: '', description: 'list calls that wait for you' },
  { name: 'show', usage: 'ID', description: 'show a call with nothing left out' },
  {
    name: 'approve',
    usage: 'ID [always]',
    description: 'allow a call; always: for this agent from now on, by the rule that the list shows',
  },
  { name: 'deny', usage: 'ID [reason]', description: 'deny a call; the agent reads the reason' },
];

/** A command as it was written. */
export interface SlashCommand {
  /** Without the slash, in lower case. */
  readonly name: string;
  /** Empty for none. */
  readonly argument: string;
}

const COMMAND = /^\/([a-z0-9_]{1,32})(?:@([a-z0-9_]{1,64}))?(?:\s+([\s\S]*))?$/i;

/** Parses a command. `elsewhere`: addressed to another bot; null: not a command, such as the path `/etc/hosts`. */
export function readCommand(text: string, bot_name: string): SlashCommand | 'elsewhere' | null {
  const found = COMMAND.exec(text.trim());
  if (found === null) return null;
  const [, name = '', bot, argument = ''] = found;
  if (bot !== undefined && bot.toLowerCase() !== bot_name.toLowerCase()) return 'elsewhere';
  return { name: name.toLowerCase(), argument: argument.trim() };
}
