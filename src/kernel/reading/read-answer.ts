import type { AssistantPart, CallPart } from '../../records/conversation/message.ts';
import { fieldsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import { isJsonObject, type JsonObject, parsedObject, parseJson } from '../../records/text/json-text.ts';
import { ALIASES, meaningsOf, plainName } from './argument-aliases.ts';
import { shellCommand } from './call-errors.ts';
import { type Reading, type ReadTool, readArguments, requiredOf } from './read-arguments.ts';
import { gluedObjects, mendedJson, patchCalls, type WrittenCalls, writtenCalls } from './written-calls.ts';

type FoundTool = ReadTool & { readonly fits: (input: unknown) => boolean };

/** The tools of an agent, as its calls are read. */
export interface ReadTools {
  /** Names of the tools that its model sees. */
  readonly names: readonly string[];
  /** `fits`: whether the tool takes the arguments as they are. */
  readonly find: (name: string) => FoundTool | undefined;
}

/** Maximum calls that a text or another call may hold. */
const HELD_MAX = 100;

/** `unread`: calls in its text that cannot be read, or that may be an example. */
export interface ReadAnswer {
  readonly parts: readonly AssistantPart[];
  readonly unread: boolean;
}

/**
 * Reads the calls of an answer as they are meant. The parts stay as the model wrote them, so that caches hold, with what was read beside them; only calls that
 * stand in the text, or inside another call, become parts of their own. `written` finds the former.
 */
export function readAnswer(
  parts: readonly AssistantPart[],
  tools: ReadTools,
  seq: number,
  written: (text: string) => WrittenCalls | null = writtenCalls,
): ReadAnswer {
  let unread = false;
  const made = parts.some((part) => part.type === 'call') ? parts : withWritten();
  const read = made.flatMap((part): readonly AssistantPart[] =>
    part.type === 'call' ? unfolded(part, tools).map((call) => readCall(call, tools)) : [part],
  );
  // Beside other calls it is none yet: more is said when these have run.
  const words = read.flatMap((part) => (part.type === 'call' ? [answerIn(part, tools)] : []));
  if (words.includes(null)) return { parts: read, unread };
  const said = read.map((part) =>
    part.type === 'call' ? { type: 'text' as const, text: words.shift() as string } : part,
  );
  return { parts: said, unread };

  /** With the calls written into the last text, if all of them name a tool of the agent, or marks say that they are calls. */
  function withWritten(): readonly AssistantPart[] {
    const at = parts.findLastIndex((part) => part.type === 'text' && part.text.trim() !== '');
    const part = parts[at];
    const found = part?.type === 'text' ? written(part.text) : null;
    if (!found || found.calls.length > HELD_MAX) return parts;
    const calls = found.calls.map(
      (call, index): CallPart => ({ type: 'call', id: `text_${seq}_${index + 1}`, ...call }),
    );
    const isKnown = (call: CallPart) =>
      tools.find(toolMeant(call.name, tools)) !== undefined || foreignCall(call, tools).read !== undefined;
    if (!found.is_marked && !calls.every(isKnown)) return parts;
    unread = calls.length === 0 || found.is_shown === true;
    if (unread) return parts;
    const said = found.before === '' ? [] : [{ ...part, type: 'text' as const, text: found.before }];
    return [...parts.slice(0, at), ...said, ...calls];
  }
}

/** Names of the tool that takes patches as texts, and of shells. */
const PATCHING = /^(applypatch|bash|shell|localshell|containerexec|exec(command)?)$/;

/** The calls that a patch in the form of Codex means, or that a `multi_tool_use.parallel` holds, of which some models write the last word alone. */
function unfolded(part: CallPart, tools: ReadTools): readonly CallPart[] {
  const { find, names } = tools;
  if (PATCHING.test(plainName(bareName(part.name))) && names.includes('patch')) {
    const calls = patchCalls(Object.values(parsedObject(part.input) ?? {}).flat());
    if (calls.length > 0 && calls.length <= HELD_MAX)
      return calls.map((call, index) => ({ type: 'call', id: `${part.id}_${index + 1}`, ...call }));
  }
  const listed = /^\s*\[/.test(part.input) ? parseJson(part.input) : null;
  const { paths, ...others } = listed?.ok ? { paths: listed.value } : fieldsOf(parsedObject(part.input));
  const tool = find(toolMeant(part.name, tools)) ?? find(foreignTool(part, tools).replace(':shown', ''));
  const is_list = isPaths(paths) && Object.keys(others).length === 0;
  const held =
    is_list && tool?.name === 'read' && tool.own && !tool.fits({ paths })
      ? paths.map((path) => ['read', JSON.stringify({ path })] as const)
      : (tool?.own ? listedItems(part.input, tool) : [])
          .concat(gluedObjects(part.input))
          .map((input) => [part.name, input] as const);
  if (held.length > 0 && held.length <= HELD_MAX)
    return held.map(([name, input], index) => ({ type: 'call', id: `${part.id}_${index + 1}`, name, input }));
  if (!/^(?:(?:functions\.)?multi_tool_use[._])?parallel$/.test(part.name) || find(part.name)) return [part];
  const uses = parsedObject(part.input)?.tool_uses;
  if (!Array.isArray(uses) || uses.length > HELD_MAX) return [part];
  const calls = uses.flatMap((use, index): CallPart[] => {
    const name = isJsonObject(use) ? (use.recipient_name ?? use.name) : undefined;
    if (typeof name !== 'string') return [];
    const input = JSON.stringify(use.parameters ?? use.arguments ?? {});
    return [{ type: 'call', id: `${part.id}_${index + 1}`, name, input }];
  });
  return calls.length > 0 && calls.length === uses.length ? calls : [part];
}

/** The arguments of as many calls, which some models write as a list, alone or under a key, where the tool takes one; none unless each of them fits. */
function listedItems(written: string, tool: FoundTool): readonly string[] {
  if (!/^\s*(?:\[|\{\s*"\w+"\s*:\s*\[)\s*\{/.test(written)) return [];
  const parsed = parseJson(written);
  const given = parsed.ok ? parsed.value : null;
  const [list, ...more] = isJsonObject(given) ? Object.values(given) : [given];
  if (!Array.isArray(list) || more.length > 0 || list.length < 2 || list.length > HELD_MAX) return [];
  if (tool.fits(given) || tool.fits(readArguments(tool, given).input)) return [];
  return list.every((one) => isJsonObject(one) && tool.fits(readArguments(tool, one).input))
    ? list.map((one) => JSON.stringify(one))
    : [];
}

/** Paths of single files, and no patterns. */
function isPaths(paths: unknown): paths is string[] {
  return Array.isArray(paths) && paths.every((path) => typeof path === 'string' && !/[*?[{]/.test(path));
}

const LAST_LINE = /^(endline|lineend|endlineoneindexed(inclusive)?)$/;

/** A name without what some programs put around it. */
function bareName(name: string): string {
  return name.replace(/^(functions|tools|default_api|tool|slash)[.:/]/i, '').replace(/:\d+$|<\|.*$/s, '');
}

/** The tool that a name means: itself, or the only one that is spelt like it. */
function toolMeant(name: string, { names, find }: ReadTools): string {
  if (find(name) !== undefined) return name;
  const plain = plainName(bareName(name));
  const meant = names.filter((one) => plainName(one) === plain);
  return meant.length === 1 ? (meant[0] as string) : name;
}

/** Names of tools that read one file, as the shell's `cat` does for who has only the shell. */
const READS_FILE = /^(?:cat|view|open|read|fileread|(?:open|read|view)file)$/;

/** A pattern that the shell's `find` takes as it is: names in all folders below one. */
const WHEREVER = /^(?:[\w./-]+\/)?\*\*\/[\w.*?-]+$/;

/** The own tool, with its command, that a call of another program means; empty if there is none. */
function foreignTool(part: CallPart, { names }: ReadTools): string {
  const has = (name: string) => names.includes(name.replace(/:.*/, ''));
  return meaningsOf(bareName(part.name), parsedObject(part.input)).find(has) ?? '';
}

/** The `Edit` of another program is a `patch`, and so on, where nothing of it is left that the own tool does not take. */
function foreignCall(part: CallPart, tools: ReadTools): CallPart {
  const meant = foreignTool(part, tools);
  const given = fieldsOf(parsedObject(part.input));
  const [shell, program = ''] = meant.split(':');
  const [[key, value] = ['', ''], ...others] = Object.entries(given);
  const is_path = key === 'path' || ALIASES.get('path')?.includes(plainName(key));
  const is_file = is_path && isPaths([value]) && READS_FILE.test(plainName(bareName(part.name)));
  const is_same =
    program === 'find'
      ? key === 'pattern' && WHEREVER.test(wordOf(value) ?? '')
      : program === 'cat' && is_file;
  if (shell === 'bash' && is_same && others.length === 0 && tools.find('bash')?.own === true) {
    const input = JSON.stringify({ command: shellCommand(program, given) });
    return { ...part, read: { name: 'bash', input, changes: [`${part.name} → bash`, `${key} → command`] } };
  }
  const [, command = ''] = /^slash:(.*)$/.exec(meant) ?? [];
  const is_asked = command !== 'check-mail' || plainName(bareName(part.name)) === 'checkmail';
  const slash = is_asked ? commandIn(command, given) : null;
  if (slash !== null) return slashCall(part, slash);
  const tool = tools.find(meant);
  if (tool?.own !== true) return part;
  const call = readCall(part, tools, meant);
  return tool.fits(parsedObject(call.read?.input ?? '')) ? call : part;
}

function slashCall(part: CallPart, command: string): CallPart {
  const input = JSON.stringify({ command });
  return { ...part, read: { name: 'slash', input, changes: [`${part.name} → slash`] } };
}

/** The command of `slash` that a name and fields mean; null if it does not take all of them. */
export function commandIn(name: string, given: JsonObject): string | null {
  const { to, uuid = to, message, prompt, task = prompt, ...others } = given;
  const count = Object.keys(given).length;
  if (name === 'check-mail') return count === 0 ? name : null;
  if (name === 'send' && count === 2 && /^\S+$/.test(wordOf(uuid) ?? '') && wordOf(message))
    return `send ${uuid} ${message}`;
  const text = name === 'fork' ? (wordOf(task) ?? '') : '';
  const rest = Object.keys(others).every((key) =>
    /^(name|description|label|subagenttype)$/.test(plainName(key)),
  );
  return rest && uuid === undefined && message === undefined && /^[^\s"'-]/.test(text)
    ? `fork ${text}`
    : null;
}

/** The words of a call that only answers, such as `attempt_completion {"result": "…"}`, where no tool takes them; null for any other. */
function answerIn(call: CallPart, tools: ReadTools): string | null {
  if (call.read !== undefined || tools.find(toolMeant(call.name, tools)) !== undefined) return null;
  const given = fieldsOf(parsedObject(call.input));
  const meanings = meaningsOf(bareName(call.name), given);
  const takes = (name: string) => tools.names.includes(name.replace(/:.*/, ''));
  if (!meanings.includes('answer') || meanings.some(takes)) return null;
  const [text, ...more] = Object.values(given).filter((value) => value !== true);
  return typeof text === 'string' && text.trim() !== '' && more.length === 0 ? text : null;
}

function readCall(part: CallPart, tools: ReadTools, name = toolMeant(part.name, tools)): CallPart {
  const tool = tools.find(name);
  if (tool === undefined) return foreignCall(part, tools);
  const { cmd, command = cmd, ...others } = fieldsOf(name === 'slash' ? parsedObject(part.input) : undefined);
  const slash = Object.keys(others).length === 0 ? null : commandIn(`${command}`.replace('/', ''), others);
  if (slash !== null) return slashCall(part, slash);
  const renamed = name === part.name ? [] : [`${part.name} → ${name}`];
  const parsed = inputOf(part.input, tool);
  // The names of profiles are not part of what is checked.
  const fits = parsed !== undefined && tool.fits(parsed.value) && !(tool.own && /"profile"/.test(part.input));
  const reading =
    parsed === undefined || fits
      ? { input: parsed?.value, changes: [], told: [] }
      : inLines(inSeconds(readArguments(tool, parsed.value), tool), tool);
  // What no reading makes valid is left as it was written, for the check of an MCP server.
  const is_read = parsed !== undefined && (tool.own || fits || tool.fits(reading.input));
  const changes = is_read ? [...parsed.changes, ...reading.changes] : [];
  if (changes.length + renamed.length === 0) return part;
  const input = changes.length === 0 ? part.input : JSON.stringify(reading.input);
  const note = reading.told.length === 0 ? {} : { note: reading.told.join('; ') };
  return { ...part, read: { name, input, changes: [...renamed, ...changes], ...note } };
}

/** The last line that other programs take, alone or in a range, as the number of lines that `read` takes. */
function inLines(reading: Reading, { name, own, fits }: FoundTool): Reading {
  if (!own || name !== 'read' || fits(reading.input)) return reading;
  const { view_range, offset = 1, ...given } = fieldsOf(reading.input);
  const [key, end] = Object.entries(given).find(([one]) => LAST_LINE.test(plainName(one))) ?? ['view_range'];
  const [first, last] = (Array.isArray(view_range) ? view_range : [offset, end]).map(numberOf);
  if (first === undefined || last === undefined || (last < first && last !== -1)) return reading;
  const { [key]: _, ...others } = given;
  const input = { ...others, offset: first, ...(last !== -1 && { limit: last - first + 1 }) };
  return fits(input) ? { ...reading, input, changes: [...reading.changes, `${key} → limit`] } : reading;
}

/** A timeout that is too long for the tool in seconds, as programs write it that take milliseconds. */
function inSeconds(reading: Reading, { own, fits }: FoundTool): Reading {
  const { timeout } = fieldsOf(reading.input);
  if (!own || typeof timeout !== 'number' || timeout % 1000 !== 0 || fits(reading.input)) return reading;
  const input = { ...fieldsOf(reading.input), timeout: timeout / 1000 };
  const changes = [...reading.changes, `timeout: ${timeout} → ${input.timeout}`];
  return fits(input) ? { ...reading, input, changes } : reading;
}

/** The arguments of a call; undefined if they are not JSON and nothing else that is unambiguous. */
function inputOf(
  text: string,
  tool: ReadTool,
): { readonly value: unknown; readonly changes: readonly string[] } | undefined {
  if (text.trim() === '') return { value: {}, changes: [] };
  const parsed = parseJson(text);
  if (parsed.ok) return { value: parsed.value, changes: [] };
  const fenced = /^\s*```\w*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
  const mended = mendedJson(fenced);
  if (mended.ok) return { value: mended.value, changes: ['arguments read as JSON'] };
  const [only, ...more] = requiredOf(tool.input);
  if (!tool.own || only === undefined || more.length > 0 || /^\s*["[{]/.test(fenced)) return undefined;
  return { value: { [only]: text }, changes: [`arguments → ${only}`] };
}
