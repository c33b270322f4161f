import type { AskScope } from '../records/conversation/ask.ts';
import { didYouMean } from '../render/nearest-name.ts';

/** The slash commands for people (docs/tui.md). AGENT is a name, a slot or the beginning of an id. */
export const HUMAN_COMMANDS = [
  {
    name: 'capture',
    takes: 'nothing',
    usage: '/capture',
    description: 'write down a task without sending it; /fork hands it to a child',
  },
  {
    name: 'fork',
    takes: 'nothing',
    usage: '/fork',
    description: 'child with the captured text, or one that waits; switches to it',
  },
  {
    name: 'cancel',
    takes: 'nothing',
    usage: '/cancel',
    description: 'end the capture; its text stays in the scrollback',
  },
  { name: 'kill', takes: 'agents', usage: '/kill [AGENT…]', description: 'end agents and all below them' },
  { name: 'reap', takes: 'nothing', usage: '/reap', description: 'remove dead agents from the rotation' },
  { name: 'send', takes: 'agent', usage: '/send AGENT MESSAGE', description: 'write to an agent' },
  {
    name: 'wait',
    takes: 'agents',
    usage: '/wait SECONDS [AGENT…]',
    description: 'wait for the next message, or for all of these',
  },
  {
    name: 'retry',
    takes: 'nothing',
    usage: '/retry [without-last]',
    description: 'ask again after an error, or leave out what was refused',
  },
  { name: 'agent', takes: 'agent', usage: '/agent NAME|SLOT', description: 'go to an agent' },
  { name: 'agents', takes: 'nothing', usage: '/agents', description: 'all agents, as a tree' },
  { name: 'approvals', takes: 'nothing', usage: '/approvals', description: 'what waits for your answer' },
  {
    name: 'allow',
    takes: 'text',
    usage: '/allow [once|agent]',
    description: 'allow the call that is asked about; agent: and later ones of this tool',
  },
  { name: 'deny', takes: 'text', usage: '/deny [WORDS]', description: 'deny it; the agent reads the words' },
  { name: 'model', takes: 'nothing', usage: '/model', description: 'which model the agent in view asks' },
  { name: 'web', takes: 'nothing', usage: '/web', description: 'open the dashboard in the browser' },
  { name: 'help', takes: 'nothing', usage: '/help', description: 'keys and commands' },
  { name: 'quit', takes: 'nothing', usage: '/quit', description: 'leave; running agents may go on' },
] as const;

export type HumanCommand =
  | {
      readonly name:
        | 'capture'
        | 'fork'
        | 'cancel'
        | 'reap'
        | 'agents'
        | 'approvals'
        | 'model'
        | 'web'
        | 'help'
        | 'quit';
    }
  | { readonly name: 'kill'; readonly agents: readonly string[] }
  | { readonly name: 'allow'; readonly scope: AskScope }
  | { readonly name: 'deny'; readonly note: string }
  | { readonly name: 'send'; readonly agent: string; readonly message: string }
  | { readonly name: 'wait'; readonly timeout_ms: number; readonly agents: readonly string[] }
  | { readonly name: 'retry'; readonly without_last: boolean }
  | { readonly name: 'agent'; readonly agent: string };

export type ReadCommand =
  | { readonly ok: true; readonly command: HumanCommand }
  | { readonly ok: false; readonly error: string };

const MAX_WAIT_SECONDS = 86_400;

/** Whether a text is a command: a slash and a word. A path such as `/etc/hosts is odd` is not. */
export function isCommand(text: string): boolean {
  return /^\/[a-z]+(\s|$)/i.test(text);
}

/** Commands that still work during a capture: ending it, navigating, answering. Everything else is captured, also a line that begins with `//`. */
const CAPTURE_COMMANDS: ReadonlySet<string> = new Set([
  'fork',
  'cancel',
  'capture',
  'agent',
  'agents',
  'approvals',
  'allow',
  'deny',
  'web',
  'help',
  'quit',
]);

export function isCaptureCommand(text: string): boolean {
  const word = /^\/([a-z]+)(?:\s|$)/i.exec(text)?.[1] ?? '';
  return CAPTURE_COMMANDS.has(word.toLowerCase());
}

export function readCommand(text: string): ReadCommand {
  const bad = (error: string): ReadCommand => ({ ok: false, error });
  const [, word = '', behind = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  const rest = wordsOf(behind);
  const known = HUMAN_COMMANDS.find((one) => one.name === word.toLowerCase());
  if (known === undefined) {
    const names = HUMAN_COMMANDS.map(({ name }) => `/${name}`);
    return bad(`no command /${word}. ${didYouMean(`/${word}`, names)}/help shows all.`);
  }
  const usage = (problem: string): ReadCommand => bad(`${problem}. Usage: ${known.usage}`);
  switch (known.name) {
    case 'fork':
      if (rest.length > 0) return bad('/fork takes no text: use /capture first, then /fork.');
      return { ok: true, command: { name: 'fork' } };
    case 'kill':
      return { ok: true, command: { name: 'kill', agents: rest } };
    case 'allow': {
      const scope = rest[0] ?? 'once';
      if (rest.length > 1 || (scope !== 'once' && scope !== 'agent')) return usage('once, or agent');
      return { ok: true, command: { name: 'allow', scope } };
    }
    case 'deny':
      return { ok: true, command: { name: 'deny', note: behind.trim() } };
    case 'send': {
      // The message is taken as typed: people do not quote.
      const [, quoted, plain, message = ''] = /^(?:"([^"]*)"|(\S+))\s*([\s\S]*)$/.exec(behind) ?? [];
      const agent = quoted ?? plain;
      if (agent === undefined) return usage('the agent is missing');
      if (message.trim() === '') return usage('the message is empty');
      return { ok: true, command: { name: 'send', agent, message } };
    }
    case 'wait': {
      const [seconds = '', ...agents] = rest;
      const timeout = Number(seconds);
      if (seconds === '' || !Number.isFinite(timeout) || timeout < 0 || timeout > MAX_WAIT_SECONDS)
        return usage(`SECONDS is a number from 0 to ${MAX_WAIT_SECONDS}`);
      return { ok: true, command: { name: 'wait', timeout_ms: Math.round(timeout * 1000), agents } };
    }
    case 'retry':
      if (rest.length > 1 || (rest.length === 1 && rest[0] !== 'without-last'))
        return usage('only "without-last" may stand behind it');
      return { ok: true, command: { name: 'retry', without_last: rest.length === 1 } };
    case 'agent':
      if (rest.length !== 1 || rest[0] === undefined) return usage('name one agent');
      return { ok: true, command: { name: 'agent', agent: rest[0] } };
    default:
      if (rest.length > 0) return usage(`/${known.name} takes nothing behind it`);
      return { ok: true, command: { name: known.name } };
  }
}

/** Words of a line; double quotes hold a name with spaces together. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}
