import { resolve } from 'node:path';
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { FileStamp, ResultContent } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { type JsonObject, parsedObject } from '../../records/text/json-text.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { doneChange, intendedChange } from './file-change.ts';

const TITLE_MAX = 200;

const KINDS: Readonly<Record<string, ToolKind>> = {
  bash: 'execute',
  read: 'read',
  read_image: 'read',
  skill: 'read',
  recall: 'read',
  write: 'edit',
  patch: 'edit',
  search: 'search',
  think: 'think',
};

/** A tool call as an editor shows it. `live`: the call has not run yet, so its files are unchanged. */
export function toolCallView(
  name: string,
  raw: string,
  cwd: string,
  live: boolean,
): Omit<ToolCall, 'toolCallId' | 'status'> {
  const input = parsedObject(raw || '{}');
  return {
    title: callTitle(name, input ?? {}),
    name,
    kind: KINDS[name] ?? 'other',
    locations: locationsOf(name, input ?? {}, cwd),
    content: live && input !== null ? intendedChange(name, input, cwd) : [],
    rawInput: input ?? raw,
  };
}

/** The outcome of a call. `shown`: the intended change, as it was shown before. */
export function resultView(
  name: string,
  raw: string,
  cwd: string,
  { status, output, file }: Pick<ResultContent, 'status' | 'output' | 'file'>,
  shown: readonly ToolCallContent[],
): { readonly content: ToolCallContent[]; readonly locations?: ToolCallLocation[] } {
  const told = textContent(name === 'bash' ? fenced(output) : output);
  if (status !== 'ok') return { content: [...shown, told] };
  const changed = shown.length > 0 ? shown : doneChange(name, parsedObject(raw || '{}') ?? {}, cwd, file);
  const content = changed.length > 0 ? [...changed] : [told];
  return { content, ...(file === undefined ? {} : { locations: [placeOf(file)] }) };
}

/** Output of a command that is still running. */
export function outputContent(output: string): ToolCallContent[] {
  return [textContent(fenced(output))];
}

function callTitle(name: string, input: JsonObject): string {
  const subject = subjectOf(name, input);
  if (name === 'bash' && subject !== '') return subject;
  return subject === '' ? clean(name) : `${clean(name)} ${subject}`;
}

function subjectOf(name: string, input: JsonObject): string {
  if (name === 'wait' && Array.isArray(input.from_agents)) return counted(input.from_agents.length, 'agent');
  if (name === 'spawn_agents' && Array.isArray(input.tasks)) return counted(input.tasks.length, 'task');
  const said = ['command', 'path', 'pattern', 'name', 'to', 'description']
    .map((key) => input[key])
    .find((value) => typeof value === 'string');
  const first = said ?? Object.values(input).find((value) => typeof value === 'string');
  if (typeof first !== 'string') return '';
  const [line = '', ...more] = cleanLines(first.slice(0, 4 * TITLE_MAX))
    .trim()
    .split('\n');
  const cut = cutText(line, TITLE_MAX);
  return cut.length < line.length || more.length > 0 ? `${cut} …` : cut;
}

function counted(count: number, noun: string): string {
  return `for ${count} ${noun}${count === 1 ? '' : 's'}`;
}

function locationsOf(name: string, { path, offset }: JsonObject, cwd: string): ToolCallLocation[] {
  if (typeof path !== 'string' || path === '' || !(name in KINDS)) return [];
  const line = name === 'read' && Number.isSafeInteger(offset) ? (offset as number) : null;
  return [{ path: resolve(cwd, path), ...(line === null ? {} : { line }) }];
}

function placeOf({ path, lines }: FileStamp): ToolCallLocation {
  return { path, ...(lines === undefined ? {} : { line: lines[0] }) };
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: cleanLines(text) } };
}

/** Wraps text in a Markdown fence longer than any in the text, so that editors show it verbatim. */
export function fenced(text: string, language = 'console'): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
