import type { PermissionMode } from '../../records/agent/agent.ts';
import { parseSpending, type SpendingLimits } from '../../records/agent/spending.ts';
import { ASK_SCOPES, type AskScope } from '../../records/conversation/ask.ts';
import { writtenValues } from '../../records/question/written-values.ts';
import { didYouMean } from '../../render/nearest-name.ts';
import type { ExportFormat } from '../app-options.ts';

/** The slash commands for people (docs/tui.md): name, completion, arguments, description. AGENT is a name, a slot, a number or the beginning of an id. */
const ROWS = [
  ['capture', 'nothing', '', 'write down a task without sending it; /fork hands it to a child'],
  ['fork', 'nothing', '', 'create a child with the captured text, or an idle one; switches to it'],
  ['cancel', 'nothing', '', 'end the capture; its text stays in the scrollback'],
  ['kill', 'agents', ' [idle|AGENT…]', 'kill agents and their descendants; idle: all idle agents'],
  ['reap', 'nothing', '', 'remove dead agents from the list'],
  ['send', 'agent', ' AGENT MESSAGE', 'write to an agent'],
  ['wait', 'agents', ' SECONDS [AGENT…]', 'wait for the next message, or for all of these'],
  ['retry', 'nothing', ' [without-last]', 'ask again after an error, or leave out what was refused'],
  ['agent', 'agent', ' NAME|NUMBER', 'go to an agent'],
  ['agents', 'nothing', '', 'all agents, as a tree'],
  ['trees', 'nothing', '', 'all trees of the ledger: who waits for you, what is new, what is at work'],
  ['approvals', 'nothing', '', 'what waits for your answer'],
  [
    'allow',
    'text',
    ' [SCOPE RULE | NAME=VALUE…]',
    'allow the call that is asked about; SCOPE (turn, agent, session, always) grants the rule as well; values fill in the form of a question',
  ],
  ['deny', 'text', ' [WORDS]', 'deny it; the agent reads the words'],
  ['rules', 'text', ' [remove ID]', 'rules that you granted in answers'],
  ['mode', 'text', ' [ask|accept|plan]', 'ask about changes, accept edits, or plan only'],
  ['model', 'text', ' [NAME]', 'choose another model for the agent in view'],
  ['compact', 'text', ' [WHAT TO KEEP]', 'summarise the older part of the conversation for its model'],
  ['diff', 'nothing', '', 'what the agents changed in the folder, file by file'],
  [
    'undo',
    'agent',
    ' [redo] [AGENT]',
    'take back what agents changed in files since you last wrote; redo: put it back',
  ],
  ['tasks', 'nothing', '', 'the task list that the agents share'],
  ['cost', 'nothing', '', 'what was used, this turn and in all, by agent and model'],
  ['budget', 'agent', ' [AGENT] [usd=N] [tokens=N]', 'what may still be spent, or another budget'],
  ['export', 'text', ' [FORMAT] [FILE]', 'write the conversation to a file'],
  ['new', 'nothing', '', 'begin another conversation; this one goes on'],
  ['resume', 'text', ' [ID|WORDS]', 'choose another conversation; this one goes on'],
  ['setup', 'nothing', '', 'connect another model, in a new conversation'],
  ['web', 'nothing', '', 'open the dashboard in the browser'],
  ['help', 'nothing', '', 'keys and commands'],
  ['quit', 'nothing', '', 'leave; running agents may go on'],
] as const;

export const HUMAN_COMMANDS = ROWS.map(([name, takes, words, description]) => ({
  name,
  takes,
  usage: `/${name}${words}`,
  description,
}));

/** Words of other programs: a command of the same meaning, or what does it here. */
const OTHER_WORDS = new Map([
  ['exit', 'quit'],
  ['clear', 'new'],
  [
    'init',
    'Ask the agent to write AGENTS.md: agents of this folder get it, once you trust it (coppice trust).',
  ],
  ['status', 'The line above the input shows agents and tokens; /agents, /cost and /model say more.'],
  ['config', 'coppice doctor shows the configuration file and what it says; /setup connects another model.'],
  [
    'permissions',
    '/rules shows what you granted, /mode what is asked; other rules are in the configuration.',
  ],
  ['mcp', 'coppice mcp list shows the MCP servers that agents use; coppice mcp add adds one.'],
  ['context', 'The line above the input shows how full the context is; /compact summarises the older part.'],
  ['rewind', '/undo takes back what agents changed in files; /new begins another conversation.'],
  ['copy', 'Select text with the mouse (holding Shift); /export writes the conversation to a file.'],
]);

type CommandWithArguments =
  | { readonly name: 'undo'; readonly redo: boolean; readonly agent: string | null }
  | { readonly name: 'budget'; readonly agent: string | null; readonly wanted: SpendingLimits }
  | { readonly name: 'kill'; readonly agents: readonly string[] }
  | {
      readonly name: 'allow';
      readonly scope: AskScope;
      readonly rule: string | undefined;
      readonly values: Readonly<Record<string, string>> | undefined;
    }
  | { readonly name: 'rules'; readonly remove: string | null }
  | { readonly name: 'deny' | 'compact'; readonly note: string }
  | { readonly name: 'send'; readonly agent: string; readonly message: string }
  | { readonly name: 'wait'; readonly timeout_ms: number; readonly agents: readonly string[] }
  | { readonly name: 'retry'; readonly without_last: boolean }
  | { readonly name: 'mode'; readonly mode: PermissionMode | null }
  | { readonly name: 'export'; readonly format: ExportFormat; readonly file: string | null }
  | { readonly name: 'agent'; readonly agent: string }
  | { readonly name: 'resume' | 'model'; readonly text: string };

export type HumanCommand =
  | CommandWithArguments
  | { readonly name: Exclude<(typeof ROWS)[number][0], CommandWithArguments['name']> };

export type ReadCommand =
  | { readonly ok: true; readonly command: HumanCommand }
  | { readonly ok: false; readonly error: string };

const MODES: readonly PermissionMode[] = ['ask', 'accept', 'plan'];
const FORMATS: readonly ExportFormat[] = ['md', 'html', 'json'];

const MAX_WAIT_SECONDS = 86_400;

/** Whether a text is a command: a slash and a word. A path such as `/etc/hosts is odd` is not. */
export function isCommand(text: string): boolean {
  return /^\/[a-z]+(\s|$)/i.test(text);
}

/** Commands that still work during a capture: ending it, navigating, answering. Everything else is captured, including lines that begin with `//`. */
const IN_CAPTURE =
  /^\/(?:fork|cancel|capture|agents?|trees|approvals|allow|deny|rules|new|resume|web|help|quit|exit|clear)(?:\s|$)/i;

export function isCaptureCommand(text: string): boolean {
  return IN_CAPTURE.test(text);
}

export function readCommand(text: string): ReadCommand {
  const bad = (error: string): ReadCommand => ({ ok: false, error });
  const [, typed = '', behind = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  const word = OTHER_WORDS.get(typed.toLowerCase()) ?? typed;
  if (word.includes(' ')) return bad(word);
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
    case 'undo': {
      const redo = rest[0] === 'redo';
      const [agent = null, ...more] = redo ? rest.slice(1) : rest;
      return more.length > 0 ? usage('name one agent') : { ok: true, command: { name: 'undo', redo, agent } };
    }
    case 'budget': {
      const amounts = rest.filter((one) => one.includes('='));
      const [agent = null, ...more] = rest.filter((one) => !one.includes('='));
      const wanted = parseSpending(amounts);
      if (more.length > 0) return usage('name one agent');
      if (typeof wanted === 'string') return usage(wanted);
      return { ok: true, command: { name: 'budget', agent, wanted } };
    }
    case 'allow': {
      const values = writtenValues(behind) ?? undefined;
      if (values !== undefined)
        return { ok: true, command: { name: 'allow', scope: 'once', rule: undefined, values } };
      const [, word = '', rule = ''] = /^(\S*)\s*([\s\S]*)$/.exec(behind.trim()) ?? [];
      const scope = word === '' ? 'once' : ASK_SCOPES.find((one) => one === word);
      if (scope === undefined) return usage(`SCOPE is one of ${ASK_SCOPES.join(', ')}`);
      if (scope === 'once' && rule !== '') return usage('a rule needs a scope other than once');
      return { ok: true, command: { name: 'allow', scope, rule: rule === '' ? undefined : rule, values } };
    }
    case 'rules': {
      const [verb, id, ...more] = rest;
      if (verb === undefined) return { ok: true, command: { name: 'rules', remove: null } };
      if (verb !== 'remove' || id === undefined || more.length > 0) return usage('remove needs one id');
      return { ok: true, command: { name: 'rules', remove: id } };
    }
    case 'deny':
    case 'compact':
      return { ok: true, command: { name: known.name, note: behind.trim() } };
    case 'send': {
      // The message is taken verbatim: people do not quote it.
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
        return usage('the only argument is "without-last"');
      return { ok: true, command: { name: 'retry', without_last: rest.length === 1 } };
    case 'agent':
      if (rest.length !== 1 || rest[0] === undefined) return usage('name one agent');
      return { ok: true, command: { name: 'agent', agent: rest[0] } };
    case 'mode': {
      const mode = MODES.find((one) => one === rest[0]);
      if (rest.length > 1 || (rest.length === 1 && mode === undefined))
        return usage('the mode is ask, accept or plan');
      return { ok: true, command: { name: 'mode', mode: mode ?? null } };
    }
    case 'export': {
      const [first = 'md'] = rest;
      const format = FORMATS.find((one) => one === first) ?? FORMATS.find((one) => first.endsWith(`.${one}`));
      if (format === undefined) return usage('the format is md, html or json');
      const file = first === format ? behind.slice(first.length).trim() : behind.trim();
      return { ok: true, command: { name: 'export', format, file: file === '' ? null : file } };
    }
    case 'resume':
    case 'model':
      return { ok: true, command: { name: known.name, text: behind.trim() } };
    default:
      if (rest.length > 0) return usage(`/${known.name} takes no arguments`);
      return { ok: true, command: { name: known.name } };
  }
}

/** Splits a line into words; double quotes keep a name with spaces together. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
}
