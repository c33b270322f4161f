import { InvalidRuleError, parseKnownRule, ruleText } from '../../../permissions/rule.ts';
import { ownToolName, toolPermission, WORKFLOW_PERMISSION } from '../../../permissions/tool-permission.ts';
import type { PermissionRules } from '../../../records/agent/agent.ts';
import type { BudgetTerms } from '../../../records/agent/budget.ts';
import type { Profile } from '../../../records/agent/profile.ts';
import { isServerTool } from '../../../records/server-tools.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { TIMEOUT_SECONDS_MAX, wholeMilliseconds } from '../../../records/text/parse-duration.ts';
import type { Verdict } from '../../../records/tool.ts';
import { clean } from '../../../render/clean.ts';
import { nearestName } from '../../../render/nearest-name.ts';
import { type NamedProfile, namedProfile, REQUIRE_MAX } from '../../../settings/settings.ts';
import { profileNameFault } from '../../../settings/settings-profiles.ts';
import { BUILT_IN_PERMISSIONS, CREATION_PERMISSIONS } from '../../../tools/built-in-permissions.ts';
import { evidenceText } from '../../../tools/evidence.ts';
import { splitFrontMatter } from '../../../tools/front-matter.ts';

export interface AgentFile {
  readonly profile: Profile;
  /** What is ignored, or read otherwise than it is written. */
  readonly notices: readonly string[];
}

const LIST_MAX = 200;

/** Our names for keys, by the names that may be written. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ...`name description model fallback thinking tools deny_tools toolsets turns
    timeout_seconds instructions skills parameters budget permissions require`
    .split(/\s+/)
    .map((key) => [key, key] as const),
  ['disallowedTools', 'deny_tools'],
  ['maxTurns', 'turns'],
]);

/** Keys of other programs that look like misspelt keys of ours. */
const FOREIGN_KEYS: ReadonlySet<string> = new Set(['mode', 'hooks']);

/**
 * Reads one agent file: front matter, then the system prompt. `stem` is its file name without extension, `source` its path
 * for people. Throws an Error that names the key and what is expected.
 */
export function parseAgentFile(content: Buffer, stem: string, source: string): AgentFile {
  const { fields: written, body } = splitFrontMatter(decoded(content));
  if (written.size === 0 && body === '') throw new Error('it is empty');
  const { fields, unknown } = known(written);
  const name = fields.has('name') ? fields.get('name') : stem;
  if (typeof name !== 'string') throw expected('name', 'text', name);
  const fault = profileNameFault(name.trim());
  if (fault !== null) throw new Error(fields.has('name') ? `name: ${fault}` : `its file name: ${fault}`);
  const seconds = settingOf(fields, 'timeout_seconds', `a number above 0, at most ${TIMEOUT_SECONDS_MAX}`);
  const { model, notice } = modelOf(fields);
  const foreign: string[] = [];
  const tools = toolsOf(fields, 'tools', foreign);
  const deny_tools = toolsOf(fields, 'deny_tools', foreign) ?? [];
  return {
    notices: [...ignored('key', unknown), ...ignored('tool', foreign), ...(notice === null ? [] : [notice])],
    profile: {
      name: name.trim(),
      description: settingOf(fields, 'description', 'text')?.trim() ?? '',
      model,
      ...(fields.has('fallback') && { fallback: namesOf(fields, 'fallback', 'model') ?? [] }),
      thinking: settingOf(fields, 'thinking', 'off, low, medium or high'),
      toolsets: namesOf(fields, 'toolsets', 'toolset'),
      tools,
      deny_tools,
      system: body === '' ? null : body,
      instructions: settingOf(fields, 'instructions', 'true or false') ?? true,
      skills: namesOf(fields, 'skills', 'skill'),
      parameters: namesOf(fields, 'parameters', 'parameter') ?? [],
      turns: settingOf(fields, 'turns', 'a whole number, 1 or more'),
      run_ms: seconds === null ? null : wholeMilliseconds(seconds),
      permissions: permissionsOf(fields),
      budget: budgetOf(fields),
      require: requireOf(fields),
      source,
    },
  };
}

function decoded(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}

/** Returns the fields by our names. A misspelt key of ours is an error: if ignored, it could allow what was meant to be denied. */
function known(written: ReadonlyMap<string, unknown>): { fields: Fields; unknown: string[] } {
  const fields = new Map<string, unknown>();
  const unknown: string[] = [];
  const from = new Map<string, string>();
  for (const [key, value] of written) {
    const ours = KEYS.get(key);
    if (ours === undefined) {
      const meant = slipOf(key);
      if (meant !== null) throw new Error(`unknown key ${describeYaml(key)}: did you mean "${meant}"?`);
      unknown.push(clip(clean(key)));
      continue;
    }
    if (fields.has(ours)) throw new Error(`"${from.get(ours)}" and "${key}" are the same key: keep one`);
    if (value === null) throw expected(key, 'a value, or to be left out', value);
    fields.set(ours, value);
    from.set(ours, key);
  }
  return {
    unknown,
    fields: {
      has: (key) => fields.has(key),
      get: (key) => fields.get(key),
      written: (key) => from.get(key) ?? key,
    },
  };
}

/** Returns the key that a misspelt one was probably meant to be; null if there is none. */
function slipOf(key: string): string | null {
  if (FOREIGN_KEYS.has(key)) return null;
  const same = [...KEYS.keys()].find((one) => bare(one) === bare(key));
  return same ?? nearestName(key, KEYS.keys(), key.length > 4 ? 2 : 1);
}

function ignored(noun: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > 8 ? ` and ${names.length - 8} more` : '';
  return [`unknown ${noun}${names.length === 1 ? '' : 's'} ignored: ${names.slice(0, 8).join(', ')}${more}`];
}

function bare(key: string): string {
  return key
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/s$/, '');
}

/** Names of models without a provider, such as `sonnet`, are those of other programs. */
function modelOf(fields: Fields): { readonly model: string | null; readonly notice: string | null } {
  const model = settingOf(fields, 'model', 'text')?.trim() ?? null;
  if (model === null || model === 'inherit') return { model: null, notice: null };
  if (/^[\w.:-]{1,60}$/.test(model))
    return {
      model: null,
      notice: `the model ${model} names no provider: the model of the agent that uses it is taken`,
    };
  if (model.length > 200 || !/^[^\s/\p{C}]+\/[^\s\p{C}]+$/u.test(model))
    throw expected('model', 'provider/model (for example ollama/qwen3) or inherit', model);
  return { model, notice: null };
}

/** Reads a list, or a comma-separated text. */
function namesOf(fields: Fields, key: string, noun: string): string[] | null {
  if (!fields.has(key)) return null;
  const value = fields.get(key);
  const what = `a list of ${noun}s, or their names separated by commas`;
  if (typeof value !== 'string' && !Array.isArray(value)) throw expected(fields.written(key), what, value);
  const list: readonly unknown[] = typeof value === 'string' ? value.split(',') : value;
  if (list.length > LIST_MAX) throw new Error(`"${fields.written(key)}" has more than ${LIST_MAX} names`);
  const names = list.map((one) => {
    if (typeof one !== 'string') throw expected(fields.written(key), what, one);
    const name = one.trim();
    if (
      !/^[\w-]{1,128}$/.test(name) &&
      !(noun === 'tool' && /^[\w-]{1,128}\*$/.test(name) && isServerTool(name))
    )
      throw new Error(
        `"${fields.written(key)}": ${describeYaml(name)} is not a valid ${noun} name${noun === 'tool' && name.includes('(') ? '; what a tool may do is set in permissions, for example allow: ["bash:git *"]' : ''}`,
      );
    return name;
  });
  return [...new Set(names)];
}

/** `foreign`: gets names that are none of our tools, which are tools of other programs, and ignored. */
function toolsOf(fields: Fields, key: string, foreign: string[]): string[] | null {
  // A denied `Edit` must not stay allowed as `patch`.
  const names = namesOf(fields, key, 'tool')?.map(ownToolName);
  const isOurs = (name: string) => TOOL_NAMES.includes(name) || isServerTool(name);
  for (const name of names ?? []) {
    const meant = isOurs(name) ? null : nearestName(name, TOOL_NAMES, name.length > 4 ? 2 : 1);
    if (meant !== null)
      throw new Error(
        `"${fields.written(key)}": there is no tool ${describeYaml(name)}: did you mean "${meant}"?`,
      );
    if (!isOurs(name)) foreign.push(clip(clean(name)));
  }
  return names === undefined ? null : [...new Set(names.filter(isOurs))];
}

function budgetOf(fields: Fields): BudgetTerms | null {
  if (!fields.has('budget')) return null;
  const value = fields.get('budget');
  if (!(value instanceof Map)) throw expected('budget', 'a mapping with tokens, usd and seconds', value);
  for (const [key, amount] of value) {
    if (key !== 'tokens' && key !== 'usd' && key !== 'seconds')
      throw new Error(`"budget" has tokens, usd and seconds, not ${describeYaml(key)}`);
    if (typeof amount !== 'number' || !(amount > 0))
      throw expected(`budget.${key}`, 'a number above 0', amount);
  }
  return Object.fromEntries(value) as BudgetTerms;
}

function permissionsOf(fields: Fields): PermissionRules {
  const value = fields.get('permissions') ?? new Map();
  if (!(value instanceof Map)) throw expected('permissions', 'a mapping with allow, ask and deny', value);
  for (const key of value.keys())
    if (key !== 'allow' && key !== 'ask' && key !== 'deny')
      throw new Error(`"permissions" has allow, ask and deny, not ${describeYaml(key)}`);
  return {
    allow: rulesOf(value, 'allow'),
    ask: rulesOf(value, 'ask'),
    deny: rulesOf(value, 'deny'),
  };
}

function rulesOf(permissions: ReadonlyMap<unknown, unknown>, verdict: Verdict): string[] {
  if (!permissions.has(verdict)) return [];
  // Normalises rules: blanks around a pattern could hide what it matches.
  const read = (rule: string) => ruleText(parseKnownRule(rule, verdict, RULED));
  return listOfRules(permissions.get(verdict), `permissions.${verdict}`, 'bash:git *', LIST_MAX, read);
}

function requireOf(fields: Fields): string[] {
  if (!fields.has('require')) return [];
  const read = (text: string) => evidenceText(text, TOOLS);
  return listOfRules(fields.get('require'), 'require', 'bash:npm test exit 0', REQUIRE_MAX, read);
}

function listOfRules(
  list: unknown,
  key: string,
  example: string,
  most: number,
  read: (rule: string) => string,
): string[] {
  const what = `a list of rules, for example ["${example}"]`;
  if (!Array.isArray(list)) throw expected(key, what, list);
  if (list.length > most) throw new Error(`"${key}" has more than ${most} rules`);
  return list.map((rule: unknown) => {
    if (typeof rule !== 'string') throw expected(key, what, rule);
    try {
      return read(rule);
    } catch (error) {
      if (!(error instanceof InvalidRuleError)) throw error;
      throw new Error(`"${key}": ${error.message}`);
    }
  });
}

/** The tools that rules, profiles and the configuration of the command line may name. */
export const TOOLS = [
  ...Object.values(BUILT_IN_PERMISSIONS),
  ...[toolPermission('cron'), WORKFLOW_PERMISSION],
];

/** Tools and kinds of creation that rules may name. */
export const RULED = [...TOOLS, ...CREATION_PERMISSIONS];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

/** The fields of an agent file by our names for them. Functions that read one throw an Error that names the key as it was written. */
interface Fields {
  has(key: string): boolean;
  get(key: string): unknown;
  written(key: string): string;
}

function expected(key: string, what: string, value: unknown): Error {
  return new Error(`"${key}" must be ${what}, not ${describeYaml(value)}`);
}

function describeYaml(value: unknown): string {
  if (value === null) return 'empty';
  if (value instanceof Map) return 'a mapping';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? JSON.stringify(clip(clean(value))) : String(value);
}

function clip(text: string): string {
  return cutText(text, 40, '…');
}

/** Reads a field as settings have it; null without it. */
function settingOf<Key extends keyof NamedProfile>(
  fields: Fields,
  key: Key,
  what: string,
): NonNullable<NamedProfile[Key]> | null {
  if (!fields.has(key)) return null;
  const { success, data } = namedProfile.shape[key].safeParse(fields.get(key));
  if (!success) throw expected(fields.written(key), what, fields.get(key));
  return data as NonNullable<NamedProfile[Key]>;
}
