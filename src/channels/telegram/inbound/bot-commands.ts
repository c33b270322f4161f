export interface BotCommand {
  readonly name: string;
  /** What may stand behind it. */
  readonly usage: string;
  readonly description: string;
}

/** What can be said with a slash, in the order in which people see it. */
export const BOT_COMMANDS: readonly BotCommand[] = [
  { name: 'help', usage: '', description: 'what can be said here' },
  { name: 'agents', usage: '', description: 'who works here, and on what' },
  { name: 'stop', usage: '', description: 'interrupt the turn' },
  { name: 'new', usage: '', description: 'end the session; the next message begins a new one' },
  { name: 'kill', usage: 'AGENT', description: 'end an agent and all below it' },
  { name: 'approvals', usage: '', description: 'calls that wait for you' },
  { name: 'approve', usage: '[ID] [always]', description: 'allow a call, or all such calls of the agent' },
  { name: 'deny', usage: '[ID] [reason]', description: 'deny a call; the agent reads the reason' },
];
