import { cutText } from '../../../records/text/cut-text.ts';
import { parsedObject } from '../../../records/text/json-text.ts';
import { leadingSleep } from '../../../records/text/parse-duration.ts';
import { announcesCalls } from '../../reading/announcement.ts';
import type { WrittenCalls } from '../../reading/written-calls.ts';
import { readSlash } from './slash-command.ts';

/** Slash commands that a model wrote into its text or into a shell, as `/slash fork …` or `slash {"command": "fork …"}`, instead of calling the tool. */

const BEGIN =
  /^(?=[ \t]*(?:\/?slash(?:[ \t]+\/?(?:fork|send|check-mail|kill)(?:\s|$)|[ \t]*\(?\{\s*"command")|\/(?:fork|send|check-mail|kill)(?:[ \t]|$)))/m;
/** `send` to an id, as no explanation of the commands has it. */
const SENDS = /^send\s+[0-9a-f-]{8,}\s/;
const COMMANDS_MAX = 100;
const SHOWN_MAX = 4_000;

/** The commands from the first line that is one to the end, and the text before them; no commands unless each can be read. */
function writtenIn(text: string): { readonly before: string; readonly commands: readonly string[] } {
  const [before = '', ...lines] = ` \n${text}`.split(BEGIN);
  const commands = lines.map((line) => {
    const body = line.replace(/^[ \t]*(?:\/?slash)?[ \t]*\/?/, '').trimEnd();
    const { command } = parsedObject(body.replace(/^\(([\s\S]*)\)$/, '$1')) ?? { command: body };
    return typeof command === 'string' && readSlash(command).ok ? command : null;
  });
  const are_read = commands.length <= COMMANDS_MAX && !commands.includes(null);
  return { before: before.trim(), commands: are_read ? (commands as string[]) : [] };
}

/**
 * The calls that a text means which is nothing but commands, or which ends in commands that it announces, or in `send` to a UUID. Anything else, such as a
 * command in a code block behind a sentence, is a quotation.
 */
export function writtenSlash(text: string): WrittenCalls | null {
  const [, said = '', fenced] = /^([^`]*)```\w*\n([\s\S]*)\n```$/.exec(text.trim()) ?? [];
  const { before, commands } = writtenIn(fenced ?? text);
  const is_meant = [said, before].every((one) => one.trim() === '' || announcesCalls(one));
  const is_open = fenced === undefined && before.split('```').length % 2 === 1;
  const is_sent = is_open && commands.every((one) => SENDS.test(one));
  if (commands.length === 0 || !(is_meant || is_sent)) return null;
  return {
    before: `${said}${before}`.trim(),
    calls: commands.map((command) => ({ name: 'slash', input: JSON.stringify({ command }) })),
  };
}

/**
 * What to say of a shell command that begins with slash commands, before it runs; null for any other. With the `output` of its run, also of one in which they
 * stand behind other commands, if the shell did not find them.
 */
export function slashInShell(shell: string, output = ''): string | null {
  const ran = /\bslash: .*(?:No such file|not found)/.test(output);
  const lines = ran
    ? shell.replaceAll(/[;&|]+\s*(?=\/?slash\s)/g, '\n')
    : (leadingSleep(shell)?.behind ?? shell);
  const { before, commands } = writtenIn(lines.replace(/^(?:\s*(?:#.*)?\n)+/, ''));
  if (commands.length === 0 || (before !== '' && !ran)) return null;
  const calls = commands.map((command) => `slash ${JSON.stringify({ command })}`).join('\n');
  return `${ran ? 'slash' : 'this'} is no command of the shell${ran ? '' : ', and nothing was run'}. Call the tool slash${commands.length > 1 ? ', once for each' : ''}:\n${cutText(calls, SHOWN_MAX, '…').toWellFormed()}`;
}
