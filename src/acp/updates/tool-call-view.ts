import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import { containPath } from '../../permissions/path-containment.ts';
import type { FileStamp, ResultContent } from '../../records/conversation/message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { isJsonObject, type JsonObject, parsedObject } from '../../records/text/json-text.ts';
import { counted } from '../../records/text/text.ts';
import { clean, cleanLines, fenced } from '../../render/clean.ts';
import { readWhole } from '../../tools/files/read-whole.ts';

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
  const told = textContent(name === 'bash' ? fenced(output, 'console') : output);
  if (status !== 'ok') return { content: [...shown, told] };
  const changed = shown.length > 0 ? shown : doneChange(name, parsedObject(raw || '{}') ?? {}, cwd, file);
  const content = changed.length > 0 ? [...changed] : [told];
  if (file === undefined) return { content };
  const { path, lines } = file;
  return { content, locations: [{ path, ...(lines && { line: lines[0] }) }] };
}

export function outputContent(output: string): ToolCallContent[] {
  return [textContent(fenced(output, 'console'))];
}

function callTitle(name: string, input: JsonObject): string {
  const subject = subjectOf(name, input);
  if (name === 'bash' && subject !== '') return subject;
  return subject === '' ? clean(name) : `${clean(name)} ${subject}`;
}

function subjectOf(name: string, input: JsonObject): string {
  if (name === 'wait' && Array.isArray(input.from_agents))
    return `for ${counted(input.from_agents.length, 'agent')}`;
  if (name === 'spawn_agents' && Array.isArray(input.tasks))
    return `for ${counted(input.tasks.length, 'task')}`;
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

function locationsOf(name: string, { path, offset }: JsonObject, cwd: string): ToolCallLocation[] {
  if (typeof path !== 'string' || path === '' || !(name in KINDS)) return [];
  const line = name === 'read' && Number.isSafeInteger(offset) ? (offset as number) : null;
  return [{ path: resolve(cwd, path), ...(line === null ? {} : { line }) }];
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: cleanLines(text) } };
}

/** Maximum bytes of a file whose old text is shown in a diff. */
const TEXT_BYTES = 400_000;

type DiffContent = Diff & { readonly type: 'diff' };

/** The change that a call of `write` or `patch` is about to make; empty for other calls. */
export function intendedChange(tool: string, input: JsonObject, cwd: string): ToolCallContent[] {
  return changeOf(tool, input, cwd, () => presentText(cwd, input.path));
}

/** The change that such a call has made; the old text is known only if the ledger keeps it. */
export function doneChange(
  tool: string,
  input: JsonObject,
  cwd: string,
  file: FileStamp | undefined,
): ToolCallContent[] {
  if (file === undefined) return [];
  return changeOf(tool, input, cwd, () => (file.before === null ? null : file.base));
}

/** `before` returns the whole old text; null if there was no file; undefined if unknown. */
function changeOf(
  tool: string,
  input: JsonObject,
  cwd: string,
  before: () => string | null | undefined,
): DiffContent[] {
  if (typeof input.path !== 'string') return [];
  const path = resolve(cwd, input.path);
  if (tool === 'write' && typeof input.content === 'string') {
    const old = before();
    return old === undefined ? [] : [{ type: 'diff', path, oldText: old, newText: input.content }];
  }
  if (tool !== 'patch' || !Array.isArray(input.edits)) return [];
  return input.edits.flatMap((edit: unknown): DiffContent[] => {
    if (!isJsonObject(edit)) return [];
    const { old_text, new_text } = edit;
    if (typeof old_text !== 'string' || typeof new_text !== 'string') return [];
    return [{ type: 'diff', path, oldText: old_text, newText: new_text }];
  });
}

function presentText(cwd: string, path: unknown): string | null | undefined {
  try {
    const place = containPath(cwd, String(path));
    if (!place.exists) return null;
    const bytes = readWhole(place, TEXT_BYTES);
    return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  } catch {
    // Outside the folder, unreadable or too large: the tool reports it to its model, and there is nothing to show.
    return undefined;
  }
}
