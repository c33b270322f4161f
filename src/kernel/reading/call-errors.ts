import { isServerTool, serverTool } from '../../records/server-tools.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { fieldsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import { isJsonObject } from '../../records/text/json-text.ts';
import type { ToolSpec } from '../../records/tool.ts';
import { nameHint } from '../../render/nearest-name.ts';
import { IGNORED, meaningsOf } from './argument-aliases.ts';
import { accepts, propertiesOf, readArguments, requiredOf } from './read-arguments.ts';

/** The one form of errors about calls, for models: what is wrong, in which field, and a call that would be right. */

type Spec = Pick<ToolSpec, 'name' | 'input'>;
type Schema = ToolSpec['input'];

const FIELDS_SHOWN = 20;
const TEXT_SHOWN = 200;
const JSON_SHOWN = 1_000;

/** Why arguments do not fit a tool. `tool`: as its model was sent it, so that no field is named that was not. */
export function argumentsError(tool: Spec, fault: string, given: unknown): string {
  const path = /field "([^"]*)\.[^".]+": not known/.exec(fault)?.[1]?.split('.') ?? [];
  const place = path.reduce((at, key) => propertiesOf(at)[key] ?? ((at.items ?? {}) as Schema), tool.input);
  const fields = Object.keys(propertiesOf(place)).slice(0, FIELDS_SHOWN).join(', ') || '(none)';
  const listed = `; the fields${path.length > 0 ? ` of ${path.join('.')}` : ''} are: ${fields}`;
  return `${tool.name}: ${fault}${listed}. For example: ${exampleCall(tool, withoutFault(given, fault))}`;
}

/** An example repeats no value that is refused. */
function withoutFault(given: unknown, fault: string): unknown {
  const wrong = /^field "([^".]+)": (?!not known)/.exec(fault)?.[1];
  if (wrong === undefined || !isJsonObject(given)) return given;
  const { [wrong]: _, ...others } = given;
  return others;
}

/** Why there is no such tool, with the one that does what the name means. */
export function unknownToolError(name: string, specs: readonly Spec[], given: unknown): string {
  const bare = isServerTool(name) ? '' : name.replace(/^.*\./, '');
  const meant = bare === '' ? null : meantTool(bare, specs, given);
  const names = specs.map((spec) => spec.name);
  const served = names.filter(
    (one) => bare !== '' && isServerTool(one) && one.endsWith(serverTool('', bare)),
  );
  const ends = meaningsOf(bare, given).includes('answer') && !names.includes('submit_result');
  let hint = `${nameHint(name, names, 'Tools')}.`;
  if (meant !== null)
    hint = `Nothing was run. For that there is ${meant.tool.name}: ${exampleCall(meant.tool, meant.given, meant.command)}`;
  else if (served.length > 0) hint = `Nothing was run. Did you mean ${served.join(' or ')}?`;
  else if (ends)
    hint =
      'Nothing was run. Write it as the text of your answer, without a call: who waits for you reads it when your turn ends.';
  return `there is no tool "${cutText(name, TEXT_SHOWN, '…').toWellFormed()}". ${hint}`;
}

interface MeantTool {
  readonly tool: Spec;
  /** Of `slash` or the shell, or `glob` for a search of names; may be empty. */
  readonly command: string;
  readonly given: unknown;
}

/** The tool of the agent that does what a name means, or who has no shell, what a command means that only reads. */
function meantTool(name: string, specs: readonly Spec[], given: unknown): MeantTool | null {
  for (const one of meaningsOf(name, given)) {
    const [called, command = ''] = one.split(':');
    const tool = specs.find((spec) => spec.name === called);
    if (tool !== undefined) return { tool, command, given };
  }
  const { command, cmd } = fieldsOf(given);
  const [program = '', ...words] = (wordOf(command ?? cmd) ?? '').trim().split(/\s+/);
  const reads = SHELL_READS.get(program);
  const word = words.find((one) => /^[\w@.][\w@./-]*$/.test(one));
  return reads === undefined
    ? null
    : meantTool(reads, specs, { [reads === 'read' ? 'path' : 'pattern']: word });
}

/** Commands that only read, with the tool for it. */
const SHELL_READS = new Map(
  Object.entries({ cat: 'read', ls: 'read', head: 'read', tail: 'read', grep: 'search', rg: 'search' }),
);

/** The shell command that does what is meant, for who has only the shell. `one`: the first text that was given. */
export function shellCommand(command: string, given: unknown): string {
  const { path, ...others } = fieldsOf(given);
  const one = Object.values({ ...others, path }).find((value) => typeof value === 'string') ?? '<path>';
  const quoted = (text: string) => (/^[\w@./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const [, folder] = /^([^*?{[]*)\//.exec(one) ?? [];
  if (command === 'find')
    return `find ${quoted(folder || (one === path ? '.' : (wordOf(path) ?? '.')))} -name ${quoted(one.replace(/^.*\//, ''))}`;
  return command === 'grep' ? `grep -rn ${quoted(one)} .` : `cat ${quoted(one)}`;
}

function exampleCall(tool: Spec, foreign: unknown, command = 'fork'): string {
  // What another tool has as its command is none of a shell.
  const is_shell = !(IGNORED.get('command') ?? []).includes(wordOf(fieldsOf(foreign).command) ?? '');
  const given = is_shell ? foreign : { ...fieldsOf(foreign), command: undefined };
  if (tool.name === 'bash' && /^(cat|grep|find)$/.test(command))
    return `bash ${JSON.stringify({ command: cutText(shellCommand(command, given), TEXT_SHOWN, '…').toWellFormed() })}`;
  const { pattern = '*' } = fieldsOf(given);
  const meant = command === 'glob' ? { pattern: '.', glob: pattern } : given;
  const { input } = readArguments({ ...tool, own: true }, meant);
  if (tool.name !== 'slash') return `${tool.name} ${JSON.stringify(exampleOf(tool.input, input, ''))}`;
  const { prompt, task, message } = fieldsOf(given);
  const said = cutText(wordOf(prompt ?? task ?? message) ?? '<text>', TEXT_SHOWN, '…').toWellFormed();
  const rest =
    command === 'fork' ? said : command === 'send' ? `<UUID> ${said}` : command === 'kill' ? '<UUID>' : '';
  return `slash ${JSON.stringify({ command: `${command} ${rest}`.trim() })}`;
}

/** The required fields, and what was given of the others, with placeholders where nothing fitting was given. */
function exampleOf(schema: Schema, given: unknown, field: string): unknown {
  const properties = propertiesOf(schema);
  if (schema.properties !== undefined) {
    const known = fieldsOf(given);
    const isShown = (name: string, one: Schema) =>
      requiredOf(schema).includes(name) || (known[name] !== undefined && accepts(one, known[name]));
    const shown = Object.entries(properties).filter(([name, one]) => isShown(name, one));
    return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, known[name], name)]));
  }
  if (isJsonObject(schema.items)) {
    const items = Array.isArray(given) && given.length > 0 ? given.slice(0, 3) : [undefined];
    return items.map((item) => exampleOf(schema.items as Schema, item, field.replace(/s$/, '')));
  }
  if (given !== undefined && given !== '' && accepts(schema, given)) {
    if (typeof given === 'string') return cutText(given, TEXT_SHOWN, '…').toWellFormed();
    return JSON.stringify(given).length <= JSON_SHOWN ? given : `<${field}>`;
  }
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = [schema.type].flat()[0];
  if (type === 'number' || type === 'integer') return Math.max(1, numberOf(schema.minimum) ?? 1);
  return type === 'boolean' ? true : type === 'object' ? {} : `<${field}>`;
}
