import { type PermissionMode, THINKING } from '../../records/agent/agent.ts';
import { parseSpending } from '../../records/agent/spending.ts';
import { ASK_SCOPES } from '../../records/conversation/ask.ts';
import { writtenValues } from '../../records/question/written-values.ts';

/** What was typed after the name of a command. */
export interface Typed {
  /** Its words; double quotes keep a name with spaces together. */
  readonly words: readonly string[];
  /** All of it, as it was typed. */
  readonly text: string;
}

/** What is wrong with the arguments of a command; the usage is added to it, unless it is a sentence with a full stop. */
export class Fault {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type ExportFormat = 'md' | 'html' | 'json';

const MODES: readonly PermissionMode[] = ['ask', 'accept', 'plan'];
const FORMATS: readonly ExportFormat[] = ['md', 'html', 'json'];
const MAX_WAIT_SECONDS = 86_400;

/** How arguments are read, by the name that the table of commands gives it. */
export const READERS = {
  /** Text of any form, perhaps none. */
  anyText({ text }: Typed) {
    return text.trim();
  },

  oneAgent({ words: [agent, ...more] }: Typed) {
    return agent === undefined || more.length > 0 ? new Fault('name one agent') : agent;
  },

  anyAgents({ words }: Typed) {
    return words;
  },

  /** `/allow`: a scope and a rule for later calls, or what a question is answered: the values of its form, or the one value that it needs. */
  scopeAndRule({ text }: Typed) {
    const values = writtenValues(text) ?? undefined;
    if (values !== undefined) return { scope: 'once' as const, rule: undefined, values };
    const [, word = '', rule = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
    const scope = word === '' ? 'once' : ASK_SCOPES.find((one) => one === word);
    if (scope === undefined) {
      const said = text.trim().replace(/^"([^"]*)"$/, '$1');
      return { scope: 'once' as const, rule: undefined, values: { '': said } };
    }
    if (scope === 'once' && rule !== '') return new Fault('a rule needs a scope other than once');
    return { scope, rule: rule === '' ? undefined : rule, values };
  },

  noTask({ words }: Typed) {
    return words.length > 0 ? new Fault('/fork takes no text: use /capture first, then /fork.') : null;
  },

  ruleToRemove({ words: [verb, id, ...more] }: Typed) {
    if (verb === undefined) return null;
    const fits = verb === 'remove' && id !== undefined && more.length === 0;
    return fits ? id : new Fault('remove needs one id');
  },

  serverToLogIn({ words: [verb, name, ...more] }: Typed) {
    if (verb === undefined) return null;
    const fits = verb === 'login' && name !== undefined && more.length === 0;
    return fits ? name : new Fault('login needs the name of one server');
  },

  /** The message is taken verbatim: people do not quote it. */
  agentAndMessage({ text }: Typed) {
    const [, quoted, plain, message = ''] = /^(?:"([^"]*)"|(\S+))\s*([\s\S]*)$/.exec(text) ?? [];
    const agent = quoted ?? plain;
    if (agent === undefined) return new Fault('the agent is missing');
    return message.trim() === '' ? new Fault('the message is empty') : { agent, message };
  },

  secondsAndAgents({ words: [seconds = '', ...agents] }: Typed) {
    const timeout = Number(seconds);
    if (seconds === '' || !Number.isFinite(timeout) || timeout < 0 || timeout > MAX_WAIT_SECONDS)
      return new Fault(`SECONDS is a number from 0 to ${MAX_WAIT_SECONDS}`);
    return { timeout_ms: Math.round(timeout * 1000), agents };
  },

  withoutLast({ words: [word, ...more] }: Typed) {
    if (more.length > 0 || (word !== undefined && word !== 'without-last'))
      return new Fault('the only argument is "without-last"');
    return word !== undefined;
  },

  modeName({ words: [word, ...more] }: Typed) {
    const mode = MODES.find((one) => one === word);
    if (more.length > 0 || (word !== undefined && mode === undefined))
      return new Fault('the mode is ask, accept or plan');
    return mode ?? null;
  },

  effortName({ words: [word, ...more] }: Typed) {
    const effort = THINKING.find((one) => one === word);
    if (more.length > 0 || (word !== undefined && effort === undefined))
      return new Fault(`the effort is ${THINKING.join(', ')}`);
    return effort ?? null;
  },

  redoAndAgent({ words }: Typed) {
    const redo = words[0] === 'redo';
    const [agent = null, ...more] = redo ? words.slice(1) : words;
    return more.length > 0 ? new Fault('name one agent') : { redo, agent };
  },

  agentAndAmounts({ words }: Typed) {
    const [agent = null, ...more] = words.filter((one) => !one.includes('='));
    if (more.length > 0) return new Fault('name one agent');
    const wanted = parseSpending(words.filter((one) => one.includes('=')));
    return typeof wanted === 'string' ? new Fault(wanted) : { agent, wanted };
  },

  /** `/copy`: a code block of the last answer by its number, or what a command printed, the newest being number 1. */
  partToCopy({ words }: Typed) {
    const [first = 'answer', second = '1', ...more] = /^\d/.test(words[0] ?? '') ? ['code', ...words] : words;
    const what = (['answer', 'code', 'output'] as const).find((one) => one === first);
    if (what === undefined || more.length > 0 || !/^[1-9]\d{0,5}$/.test(second))
      return new Fault('name the number of a code block, or output and a number');
    return { what, number: Number(second) };
  },

  formatAndFile({ words: [first = 'md'], text }: Typed) {
    const format = FORMATS.find((one) => one === first) ?? FORMATS.find((one) => first.endsWith(`.${one}`));
    if (format === undefined) return new Fault('the format is md, html or json');
    const file = first === format ? text.slice(first.length).trim() : text.trim();
    return { format, file: file === '' ? null : file };
  },
};
