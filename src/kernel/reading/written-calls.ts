import { fieldsOf } from '../../records/text/json-fields.ts';
import { isJsonObject, parsedObject, parseJson } from '../../records/text/json-text.ts';
import { announcesCalls, fencedEnd } from './announcement.ts';

/** A call that a model wrote into its text. */
export interface WrittenCall {
  readonly name: string;
  readonly input: string;
}

/** The calls at the end of a text, and the text before them. No calls: it has marks of some that cannot be read. */
export interface WrittenCalls {
  readonly before: string;
  readonly calls: readonly WrittenCall[];
  /** Whether marks say that these are calls, and not only the names of tools. */
  readonly is_marked?: boolean;
  /** Set if the text before them does not announce them: they may be an example. */
  readonly is_shown?: boolean;
}

/** Maximum characters and marks of the calls of a text: bounds the search. */
const BLOCK_MAX = 200_000;
const MARKS_MAX = 400;

/** What some programs put before the names of their tags, and the signs of special tokens. */
const PREFIX = /<(\/?)(?:(?:antml|minimax|seed|xai|steptml):|longcat_|｜DSML｜)(?=[a-z])/g;
const TOKEN = /<[|｜](\/?[\w▁]+)[|｜]>/g;
/** Where calls begin, in the forms of open models whose server does not parse them. */
const BEGIN =
  /<(?:tool_calls?|function_calls?|TOOLCALL|tool_code)>|<\|(?:tool_calls?(?:_(?:section_)?(?:begin|start))?|START_ACTION|action_start|python_tag|tools_prefix)\|>|\[TOOL_CALLS\]|<(?:invoke|function_call) name=|<function=|functools\[(?=\{)|(?:<\|channel\|>)?(?:commentary|analysis)\s?to=|<\|start\|>assistant to=|^to=(?=[\w.]+\s?\{)|^(?:Action|Tool):[ \t]*(?=[\w.-]+[ \t]*\n(?:Action )?(?:Input|Arguments):)/m;
/** Calls by their name and arguments: of Claude and Qwen; Kimi and DeepSeek; gpt-oss; Mistral; and of prompts that teach a form. */
const NAMED =
  /<(?:(?:invoke|function_call) name=|function=)"?([^">\s]+)"?>([\s\S]*?)<\/(?:invoke|function|function_call)>/g;
const FORMS = [
  /<\|tool_call_begin\|>\s*(?:function\s*<\|tool_sep\|>)?\s*([\w.-]+?)(?::\d+)?\s*(?:<\|tool_(?:call_argument_begin|sep)\|>|```json)(\s*\{[\s\S]*?)(?:```\s*)?<\|tool_call_end\|>/g,
  /(?:<\|start\|>assistant)?\s*(?:<\|channel\|>)?(?:commentary|analysis)?\s?to=(?:functions\.)?([\w.-]+?)(?:<\|channel\|>\w+)?\s*(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?\s*(\{[\s\S]*?\})\s*(?:<\|call\|>|$)/g,
  /\[TOOL_CALLS\]\s*([\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\]\s*(\{[\s\S]*?\})\s*(?=\[TOOL_CALLS\]|$)/g,
  /^(?:Action|Tool):[ \t]*([\w.-]+)[ \t]*\n(?:Action )?(?:Input|Arguments):([\s\S]*?)(?:\nObservation:\s*)?$/g,
];
/** A name and keys with values, or JSON: what stands between marks. */
const MARKS =
  /<\/?(?:tool_calls?|function_calls?|TOOLCALL|tool_code)>|<\|\/?\w+\|>|\[TOOL_CALLS\]|functools(?=\[)|\[\|endofturn\|\]/g;
/** Marks in what is said before. */
const SAID = /<\|\w+\|>(?:assistant|analysis|commentary|final)?|^assistant$/g;
/** Marks within arguments. */
const HELD = /<\|\w+\|>|<\/?(?:tool_call|function_call|invoke|parameter|arg_)/;
const FIELD =
  /<(?:parameter(?: name)?="?|arg_key>)([^"<>]+?)(?:(?:"[^<>]*)?>|<\/arg_key>\s*<arg_value>)\n?([\s\S]*?)\n?<\/(?:parameter|arg_value)>/g;

/** A text with one form of marks, and where its calls begin; -1 if there are none, null if it only quotes them. */
function marked(written: string): { readonly text: string; readonly at: number } | null {
  const text = written
    .replaceAll(PREFIX, '<$1')
    .replaceAll(TOKEN, (_, word: string) => `<|${word.replaceAll('▁', '_')}|>`)
    .replaceAll(
      /<(start|end)_function_call>(?:call:)?/g,
      (_, side) => `<${side === 'end' ? '/' : ''}tool_call>`,
    )
    .replaceAll(/<escape>([^<]*(?:<(?!escape>)[^<]*)*)<escape>/g, (_, value) => JSON.stringify(value));
  const at = text.search(BEGIN);
  const before = text.slice(0, Math.max(0, at));
  return before.split('```').length % 2 === 0 || before.endsWith('`') ? null : { text, at };
}

/** What makes a sentence, or its colon, introduce an example. */
const INTRODUCES = /[:：]\s*$|\b(?:you|examples?|e\.g|like)\b[^\n]*$/i;

/**
 * The calls at the end of a text, and the text before them; null if there are none, or not all of them are complete. Calls in a code block or within a
 * sentence are quotations: where a text goes on, nothing is a call.
 */
export function writtenCalls(written: string): WrittenCalls | null {
  const found = marked(written);
  if (found === null) return null;
  const { text } = found;
  const at = found.at < 0 ? bareCalls(text) : found.at;
  const before = text.slice(0, Math.max(0, at));
  const fenced = at < 0 ? fencedEnd(text) : null;
  // A code block shows something, unless it is the whole text or what the sentence before it announces.
  if (fenced !== null && /^(json|tool_call|tool_code|python)?$/.test(fenced.language)) {
    const { block } = fenced;
    const said = fenced.said.replace(/(?<![^\n])Action:\s*$/, '');
    const is_meant = said === '' || said !== fenced.said || announcesCalls(said);
    const calls = is_meant ? writtenCalls(block) : null;
    return calls && { ...calls, before: said.trimEnd() };
  }
  const block = at < 0 ? text : text.slice(at);
  const said = before.replaceAll(SAID, '').trimEnd();
  const is_marked = found.at >= 0;
  // What only has the name of a tool shows something, too.
  const is_shown = !is_marked && said !== '' && !announcesCalls(said);
  if (is_shown && INTRODUCES.test(said.slice(-300))) return null;
  const unread = triesCalls(found) ? { before: '', calls: [] } : null;
  if (
    block.length > BLOCK_MAX ||
    block.split(/<tool_call|<function=|invoke name=|tool.call.begin|arg_key>|parameter|to=|\[ARGS\]/).length >
      MARKS_MAX
  )
    return unread;
  const calls: WrittenCall[] = [];
  const rest = FORMS.reduce(
    (left, form) =>
      left.replaceAll(form, (_, name: string, input: string) => taken({ name, input: input.trim() }, calls)),
    block,
  ).replaceAll(NAMED, (_, name: string, body: string) =>
    taken({ name, input: parsedObject(body) === null ? fieldsIn(body) : body }, calls),
  );
  const bodies = rest.split(MARKS).filter((body) => body.trim() !== '');
  const is_keyed = block.startsWith('<|tools_prefix|>');
  const whole = bodies.every(
    (body) => callsIn(body.trim(), is_keyed).map((call) => taken(call, calls)).length > 0,
  );
  // What it would write may have been changed, too.
  if (text !== written && calls.some(({ input }) => HELD.test(input))) return unread;
  return whole && calls.length > 0 ? { before: said, calls, is_marked, is_shown } : unread;
}

/** Whether marks of calls which cannot be read, or behind which the text goes on, are no quotation. */
function triesCalls({ text, at }: { readonly text: string; readonly at: number }): boolean {
  const block = text.slice(Math.max(0, at));
  const goes_on = /<\/(?:tool_calls?|function_calls?|function|invoke)>[ \t]*[^\s<]/.test(block);
  const begins_line = at === 0 || text[at - 1] === '\n' || !/^<\w/.test(block);
  return at >= 0 && begins_line && !goes_on;
}

/** The line in which a call without marks may begin: JSON, as in a program, or as our own examples show it. */
const BARE =
  /^(?=\[?\s*(?:\{\s*"(?:name|tool|tool_name|function|type|id)"|[a-z_][\w.]*(?:\(\s*(?:\w+\s*=|\{)|\s?\{\s*")))/im;

/** Where the tag of a tool that ends a text begins, as `<read><path>a</path></read>`, or another call without marks; -1 if there is none. */
function bareCalls(text: string): number {
  const end = text.slice(-200);
  const name = /<\/([a-z_]+)>\s*$/.exec(end)?.[1];
  if (name !== undefined) return `\n${text}`.indexOf(`\n<${name}>`);
  const parts = text.split('```');
  const last = parts.at(-1) as string;
  const at = parts.length % 2 === 1 && /[)}\]];?\s*$/.test(end) ? last.search(BARE) : -1;
  return at < 0 ? at : text.length - last.length + at;
}

/** Leaves nothing of a whole call in the text. */
function taken({ name, input }: { name: string; input: string | null }, calls: WrittenCall[]): string {
  if (input === null) return name;
  calls.push({ name, input });
  return '';
}

/** The arguments in keys and values; null if there is anything else. */
function fieldsIn(body: string): string | null {
  const fields = [...body.matchAll(FIELD)].map(([, key = '', value]) => [key.trim(), value]);
  return body.replaceAll(FIELD, '').trim() === '' ? JSON.stringify(Object.fromEntries(fields)) : null;
}

/** Texts, commas behind the last item, and words, which may name a field. A text that is cut off is one to the end: each quote in it would be tried anew. */
const LOOSE = /"(?:[^"\\]|\\.?)*(?:"|$)|'(?:[^'\\]|\\.?)*(?:'|$)|,(?=\s*[\]}])|([a-z_][\w-]*)(\s*:)?/gis;
const LITERALS = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['undefined', 'null'],
]);

/** JSON in which line breaks inside texts are not escaped, commas stand behind the last item, or that is written as in Python or JavaScript. */
export function mendedJson(text: string): ReturnType<typeof parseJson> {
  const mended = text.replaceAll(LOOSE, (one: string, word?: string, colon?: string) => {
    if (one === ',') return '';
    if (word !== undefined) return colon === undefined ? (LITERALS.get(word) ?? word) : `"${word}":`;
    const quoted = one.startsWith("'") && one.length > 1 ? doubleQuoted(one.slice(1, -1)) : one;
    return quoted.replaceAll('\r', '').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  });
  return parseJson(mended);
}

function doubleQuoted(inner: string): string {
  return `"${inner.replaceAll(/\\.|"/gs, (one) => (one === '"' ? '\\"' : one === "\\'" ? "'" : one))}"`;
}

/** The different objects that stand one behind the other as the arguments of one call; an empty one is a beginning that was sent twice. */
export function gluedObjects(text: string): readonly string[] {
  if (!/\}\s*\{/.test(text) || parseJson(text).ok) return [];
  const list = text.replaceAll(/"(?:[^"\\]|\\.?)*(?:"|$)|\}\s*\{/gs, (one) =>
    one.startsWith('"') ? one : '},{',
  );
  const parsed = parseJson(`[${list}]`);
  const all = parsed.ok ? (parsed.value as unknown[]).map((one) => JSON.stringify(one)) : [];
  return new Set(all).size === all.length ? all.filter((one) => one !== '{}') : [];
}

/** The keys of a call, beside its id and type. Others are an answer that happens to be JSON. */
const NAME_KEY = /^(name|tool|tool_name|action)$/;
const CALL_KEYS = /^((name|tool|tool_name) (args|arguments|parameters|tool_input)|action action_input)$/;
/** A tag for each argument. */
const TAGGED = /<(\w+)>\n?([\s\S]*?)\n?<\/\1>/g;
/** Texts, names behind which arguments begin, keys, and what opens, parts and closes. */
const SPOKEN =
  /"(?:[^"\\]|\\.?)*(?:"|$)|'(?:[^'\\]|\\.?)*(?:'|$)|(?<![\w.])([a-z_][\w.]*)(\(\s*\{|\(|\s*\{|=(?!=))|[[\](){},;]/gis;

/** `NAME(key="value")`, `NAME({"key": "value"})` or `NAME {"key": "value"}`, one or several, as a list in JSON. */
function spokenCalls(body: string): string {
  const open: string[] = [];
  const json = body.replaceAll(SPOKEN, (one: string, name?: string, opens?: string) => {
    const sign = opens?.trim() ?? one;
    if (sign === '=') return `"${name}":`;
    if (name !== undefined) {
      if (open.length > 0 && open[0] !== 'print') return one;
      open.push(name === 'print' ? name : sign.replace(/\s/g, ''));
      return name === 'print' ? '' : `{"name":"${name}","arguments":{`;
    }
    if (open.length === 0 && /^[[\],;]$/.test(one)) return '';
    if (one === '{' || one === '[') open.push(one === '{' ? '' : '[');
    if (!/^[\])}]$/.test(one)) return one;
    const closed = open.pop();
    if (closed === '({') open.push('(');
    if (closed === '({' || closed === 'print') return '';
    return closed === '' || closed === '[' ? one : '}},';
  });
  return `[${json}]`;
}

/**
 * `NAME` with keys and values, tags for each, or arguments as in a program, or `{"name": …, "arguments": …}`, one or a list; none of anything else.
 * `is_keyed`: or `{NAME: …}`.
 */
function callsIn(body: string, is_keyed = false): readonly WrittenCall[] {
  const name = /^[\w.-]+(?=\s*<arg_key>)/.exec(body)?.[0];
  const fields = name === undefined ? null : fieldsIn(body.slice(name.length));
  if (name !== undefined) return fields === null ? [] : [{ name, input: fields }];
  const [, tag, tagged = ''] = /^<(\w+)>([\s\S]*)<\/\1>$/.exec(body) ?? [];
  if (tag !== undefined) {
    const given = tagged.split('<').length > MARKS_MAX ? [] : [...tagged.matchAll(TAGGED)];
    const is_whole = given.length > 0 && tagged.replaceAll(TAGGED, '').trim() === '';
    const input = JSON.stringify(Object.fromEntries(given.map(([, key = '', value]) => [key, value])));
    return is_whole ? [{ name: tag, input }] : [];
  }
  const is_spoken = /^\[?\s*[a-z_][\w.]*(?:\(|\s?\{)[\s\S]*[)}];?\s*\]?$/i.test(body);
  // Most answers are plain text: an error for each would cost more than the rest of reading them.
  if (!is_spoken && !/^[[{]/.test(body)) return [];
  const glued = is_spoken ? [] : gluedObjects(body);
  const parsed = mendedJson(is_spoken ? spokenCalls(body) : glued.length > 0 ? `[${glued.join()}]` : body);
  const whole = parsed.ok ? parsed.value : [];
  const listed = isJsonObject(whole) && Object.keys(whole).join() === 'tool_calls' ? whole.tool_calls : whole;
  const calls = [listed].flat().flatMap((one) => {
    const { function_call, function: held = function_call } = fieldsOf(one);
    const call = isJsonObject(held) ? held : one;
    if (!isJsonObject(call)) return [null];
    const { id: _id, tool_call_id: _call, type, ...fields } = call;
    const keys = Object.keys(fields).sort((one) => (NAME_KEY.test(one) ? -1 : 1));
    const [called, given] = keys.map((key) => fields[key]);
    const [key = '', ...more] = keys;
    if (is_keyed && more.length === 0 && isJsonObject(called))
      return { name: key, input: JSON.stringify(called) };
    const is_use = type === 'tool_use' && keys.join(' ') === 'name input';
    if (typeof called !== 'string' || given == null || !(is_use || CALL_KEYS.test(keys.join(' '))))
      return [null];
    return { name: called, input: typeof given === 'string' ? given : JSON.stringify(given) };
  });
  return calls.includes(null) ? [] : (calls as WrittenCall[]);
}

/** A patch as Codex writes it, alone or handed to the program `apply_patch`. */
const PATCH =
  /^\s*(?:apply_patch\s+<<\s*(['"]?)(\w+)\1\n)?\*\*\* Begin Patch\n([\s\S]*?)\n?\*\*\* End Patch\s*(?:\n\2\s*)?$/;
const FILE = /^(Add|Update) File: (.+)\n([\s\S]*)$/;

/** The calls of `patch` and `write` that one of these texts means; none if there is no patch, or if it does what these tools do not. */
export function patchCalls(texts: readonly unknown[]): readonly WrittenCall[] {
  const body = texts
    .map((text) => (typeof text === 'string' ? PATCH.exec(text.replaceAll('\r', ''))?.[3] : undefined))
    .find((one) => one !== undefined);
  const files = (body ?? '').split(/^\*\*\* (?=\w+ File: )/m).slice(1);
  const calls = files.map(fileCall);
  return calls.includes(null) ? [] : (calls as WrittenCall[]);
}

function fileCall(text: string): WrittenCall | null {
  const [, kind, path = '', body = ''] = FILE.exec(text.endsWith('\n') ? text : `${text}\n`) ?? [];
  const lines = body
    .replace(/\*\*\* End of File\n/g, '')
    .split('\n')
    .slice(0, -1);
  if (kind === 'Add') {
    if (!lines.every((line) => line.startsWith('+'))) return null;
    return {
      name: 'write',
      input: JSON.stringify({ path, content: lines.map((line) => `${line.slice(1)}\n`).join('') }),
    };
  }
  const hunks = lines
    .join('\n')
    .split(/^@@.*$\n?/m)
    .filter((hunk) => hunk !== '');
  const edits = hunks.map((hunk) => editOf(hunk.replace(/\n$/, '').split('\n')));
  return edits.length === 0 || edits.includes(null)
    ? null
    : { name: 'patch', input: JSON.stringify({ path, edits }) };
}

/** The edit of lines that stay, go and come; null if none tells where. */
function editOf(lines: readonly string[]): { old_text: string; new_text: string } | null {
  if (!lines.every((line) => line === '' || /^[ +-]/.test(line))) return null;
  const without = (sign: string) =>
    lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
  const [before, after] = [without('+'), without('-')];
  if (before.length === 0) return null;
  const end = after.length === 0 ? '\n' : '';
  return { old_text: before.join('\n') + end, new_text: after.join('\n') };
}
