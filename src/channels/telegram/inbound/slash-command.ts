/** A command as somebody wrote it. */
export interface SlashCommand {
  /** Without the slash, in lower case. */
  readonly name: string;
  /** What stands behind it; empty for nothing. */
  readonly argument: string;
}

const FORM = /^\/([a-z0-9_]{1,32})(?:@([a-z0-9_]{1,64}))?(?:\s+([\s\S]*))?$/i;

/** `elsewhere`: addressed to another bot. Null: no command, and a path such as `/etc/hosts` is none. */
export function readCommand(text: string, bot_name: string): SlashCommand | 'elsewhere' | null {
  const found = FORM.exec(text.trim());
  if (found === null) return null;
  const [, name = '', bot, argument = ''] = found;
  if (bot !== undefined && bot.toLowerCase() !== bot_name.toLowerCase()) return 'elsewhere';
  return { name: name.toLowerCase(), argument: argument.trim() };
}
