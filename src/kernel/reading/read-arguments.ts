import { nameOfTask } from '../../records/agent/agent-name.ts';
import { fieldsOf, numberOf, wordOf } from '../../records/text/json-fields.ts';
import {
  isJsonObject,
  type JsonObject,
  jsonType,
  parsedObject,
  parseJson,
} from '../../records/text/json-text.ts';
import { readDuration } from '../../records/text/parse-duration.ts';
import { ALIASES, IGNORED, plainName, VALUE_ALIASES } from './argument-aliases.ts';

/** The arguments of a call as they are meant. */
export interface Reading {
  readonly input: unknown;
  /** What was read otherwise than it was written, for people. */
  readonly changes: readonly string[];
  /** What the model should know of it; mostly nothing. */
  readonly told: readonly string[];
}

export interface ReadTool {
  readonly name: string;
  readonly input: JsonObject;
  /** Whether it is a tool of Coppice: only then the names of other programs' parameters are known to mean the same. */
  readonly own: boolean;
}

/**
 * Reads arguments that do not match a tool's schema as what they unambiguously mean. What could change the meaning is left as it is, for the tool to
 * refuse: unknown options, values of the wrong kind, amounts of money. Pure.
 */
export function readArguments(tool: ReadTool, written: unknown): Reading {
  const reader = new ArgumentReader(tool);
  const input = reader.value(tool.input, written, '');
  const { changes, told } = reader;
  return { input: tool.own ? reader.withDefaults(tool, input) : input, changes, told };
}

/** Parameters in which a value stands for its JSON text. */
const TEXTS = /(^|\.)(content|message|result|error|prompt|task|thought)$/;
/** Those in which a list does, too: in others it may mean lines, or several texts. */
const VALUES = /^(message|result|error|thought)$/;
/** The only key under which some models put all arguments. */
const WRAPPERS = /^(arguments|args|kwargs|input|toolinput|actioninput|parameters|params|function)$/;
/** Keys beside it that only repeat what is called. */
const CALLED = /^(name|tool|toolname|action|type)$/;
/** Kinds of agents; the second only where an agent is created. */
const AGENT_TYPE = /^(sub)?agenttype$/;
const AGENT_KIND = /^(sub)?agent(type|id)?$/;
/** Tools whose agents work in the background in any case. */
const ASIDE = new Set(['fork', 'spawn_agents', 'sessions_spawn']);
const UNITS = /^(?:timeout|duration|wait|sleep)?(?:(ms|millis|milliseconds)|minutes|mins)$/;
/** Words for nothing, where they are no value, and for no limit of time. */
const NOTHING = /^(none|null|undefined)$/i;
const FOREVER = /^(forever|infinite|infinity|unlimited|never)$/i;
/** What is counted, behind its number. */
const COUNTED = /(?<=^\d+)\s+(?:turns?|steps?|lines?|results?|matches)$/i;
/** Names, numbers or paths with commas between them. */
const LISTED = /^[\w#@./-]+(?:\s*,\s*[\w#@./-]+)+$/;
/** Maximum fields of an object that is read, and changes that are noted: bounds the work on what no model means. */
const FIELDS_MAX = 200;
const TOGETHER_MAX = 20;
const CHANGES_MAX = 20;
/** Seconds that a `wait` takes at most if the call does not say it. */
const WAIT_SECONDS = 300;

type Entries = Map<string, unknown>;
type Field = readonly [name: string, value: unknown];

class ArgumentReader {
  readonly #own: boolean;
  readonly #name: string;
  readonly changes: string[] = [];
  readonly told: string[] = [];

  constructor({ own, name }: ReadTool) {
    this.#own = own;
    this.#name = name;
  }

  value(schema: JsonObject, written: unknown, field: string): unknown {
    const options = (schema.anyOf ?? schema.oneOf) as JsonObject[] | undefined;
    if (options !== undefined) {
      const fitting = options.find((one) => accepts(one, written));
      if (fitting !== undefined) return this.value(fitting, written, field);
      const read = options
        .map((one) => this.#converted(one, written, field))
        .filter((one) => one !== written);
      return read.length === 1 ? this.#changed(field, written, read[0]) : written;
    }
    const value = accepts(schema, written) ? written : this.#converted(schema, written, field);
    if (value !== written) this.#changed(field, written, value);
    if (Array.isArray(value) && isJsonObject(schema.items)) {
      const { items } = schema;
      return value.map((one, index) => this.value(items, one, `${field}.${index}`));
    }
    return isJsonObject(value) && isJsonObject(schema.properties)
      ? this.#object(schema, value, field)
      : value;
  }

  #note(change: string): void {
    if (this.changes.length < CHANGES_MAX) this.changes.push(change);
  }

  #changed<T>(field: string, written: unknown, value: T): T {
    const was = written === undefined ? 'missing' : shortJson(written);
    this.#note(`${field || 'arguments'}: ${was} → ${shortJson(value)}`);
    return value;
  }

  /** A value of another type that can only mean this one; otherwise the value itself. */
  #converted(schema: JsonObject, value: unknown, field: string): unknown {
    const types = typesOf(schema).filter((one) => one !== 'null');
    if (types.length !== 1 || value === null) return value;
    const text = typeof value === 'string' ? value.trim() : '';
    const json = /^[[{]/.test(text) ? parseJson(text) : null;
    const inner = json?.ok === true ? json.value : undefined;
    switch (types[0]) {
      case 'number':
      case 'integer':
        return this.#number(text, field) ?? value;
      case 'boolean':
        if (/^(true|yes|on|1)$/i.test(wordOf(value) ?? '')) return true;
        return /^(false|no|off|0)$/i.test(wordOf(value) ?? '') ? false : value;
      case 'string':
        return this.#text(schema, value, field);
      case 'array': {
        if (Array.isArray(inner)) return inner;
        if (!isJsonObject(schema.items)) return value;
        if (this.#own && schema.items.properties === undefined && LISTED.test(text))
          return text.split(/\s*,\s*/);
        const item = accepts(schema.items, value) ? value : this.#converted(schema.items, value, field);
        return accepts(schema.items, item) ? [item] : value;
      }
      case 'object': {
        if (isJsonObject(inner)) return inner;
        const [only = '', ...more] = requiredOf(schema);
        const properties = this.#own && value !== '' ? propertiesOf(schema) : {};
        const holder = more.length > 0 ? undefined : properties[only];
        if (holder !== undefined && accepts(holder, value)) return { [only]: value };
        if (!Array.isArray(value)) return value;
        // All arguments in a list of one, or what the only list takes, or a command in words.
        if (value.length === 1 && isJsonObject(value[0])) return value[0];
        const lists = Object.entries(properties).filter(([, { items }]) => isJsonObject(items));
        const [[name, { items }] = [holder === undefined ? '' : only, {}], ...others] = lists;
        const is_fit = value.every((one) => accepts((items ?? {}) as JsonObject, one));
        return name === '' || others.length > 0 || value.length === 0 || !is_fit ? value : { [name]: value };
      }
      default:
        return value;
    }
  }

  /** A number written as text; a duration such as `30s` only where seconds are asked for. */
  #number(written: string, field: string): number | null {
    const text = this.#own ? written.replace(COUNTED, '') : written;
    if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
    if (this.#own && /^#\d+$/.test(text)) return Number(text.slice(1));
    if (!this.#own || !/timeout|seconds/i.test(field)) return null;
    const ms = readDuration(text);
    return ms === null ? null : ms / 1000;
  }

  #text(schema: JsonObject, value: unknown, field: string): unknown {
    if (Array.isArray(schema.enum)) {
      const word = plainName(wordOf(value) ?? '');
      const isMeant = (one: string) =>
        [one, ...(this.#own ? (VALUE_ALIASES.get(one) ?? []) : [])].some(sameWord);
      const sameWord = (one: string) => plainName(one) === word;
      const meant = schema.enum.filter((one) => isMeant(wordOf(one) ?? ''));
      return meant.length === 1 ? meant[0] : value;
    }
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (this.#own && TEXTS.test(field) && (isJsonObject(value) || VALUES.test(field)))
      return JSON.stringify(value, null, field === 'content' ? 2 : 0);
    if (this.#own && field === 'command' && Array.isArray(value))
      return this.#name === 'slash' ? value.join(' ') : (shellCommand(value) ?? value);
    const id = this.#own && isJsonObject(value) ? (value.agent_id ?? value.id) : undefined;
    const only = Array.isArray(value) && value.length === 1 ? value[0] : id;
    return typeof only === 'string' ? only : value;
  }

  #object(schema: JsonObject, written: JsonObject, field: string): JsonObject {
    const properties = propertiesOf(schema);
    const whole = Object.entries(written);
    if (whole.length > FIELDS_MAX) return written;
    const [[wrapper, inner] = ['', null], ...more] = whole.filter(
      ([key, value]) => !CALLED.test(plainName(key)) || (value !== this.#name && value !== 'function'),
    );
    if (more.length === 0 && WRAPPERS.test(plainName(wrapper)) && !Object.hasOwn(properties, wrapper)) {
      const unwrapped = typeof inner === 'string' ? parsedObject(inner) : inner;
      if (isJsonObject(unwrapped))
        return this.#object(schema, this.#changed(field, written, unwrapped), field);
    }
    const entries = this.#spread(whole, properties);
    const at = (key: string) => (field === '' ? key : `${field}.${key}`);
    const read: Entries = new Map(entries.filter(([name]) => Object.hasOwn(properties, name)));
    const list = this.#own ? listOf(schema, read) : null;
    const gathered: Entries = new Map();
    for (const [name, value] of entries) {
      if (Object.hasOwn(properties, name)) continue;
      const target = this.#targetOf(name, value, properties, read);
      const held = target === null ? undefined : properties[target];
      if (target !== null && held !== undefined && !this.#isNoPlace(held, value, target)) {
        const unit = UNITS.exec(plainName(name));
        const count = unit === null ? undefined : numberOf(value);
        const told =
          count === undefined ? inMilliseconds(name, value) : unit?.[1] ? count / 1000 : count * 60;
        read.set(target, told);
        this.#note(`${at(name)} → ${target}`);
      } else if (list !== null && this.#targetOf(name, null, list.properties, gathered) !== null)
        gathered.set(name, value);
      else if (value === null || sameElsewhere(name, value, read) || this.#isIgnored(name, value))
        this.#note(`${at(name)} left out`);
      else if (this.#own && field === '' && Object.keys(properties).length === 0) {
        this.#note(`${name} left out`);
        this.told.push(`${name} was ignored: ${this.#name} takes nothing`);
      } else read.set(name, value);
    }
    if (list !== null && gathered.size > 0)
      read.set(list.name, this.#changed(at(list.name), undefined, [Object.fromEntries(gathered)]));
    for (const [name, value] of [...read]) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property === undefined) continue;
      const is_nothing = /timeout/i.test(name) ? [NOTHING, FOREVER] : [NOTHING];
      const is_word =
        typeof value === 'string' && is_nothing.some((one) => one.test(value)) && property.enum === undefined;
      const is_null = value === null || (is_word && !accepts(property, value));
      const is_empty = is_null ? !accepts(property, null) : value === '' && this.#own;
      if (is_empty && (is_null || !requiredOf(schema).includes(name))) {
        read.delete(name);
        this.#note(`${at(name)} left out`);
      } else read.set(name, this.value(property, value, at(name)));
    }
    return Object.fromEntries(read);
  }

  /** With the fields of an object that stands where none can, such as `job: {name, every}`, in its place, if each of them can stand there. */
  #spread(entries: readonly Field[], properties: Properties, depth = 0): readonly Field[] {
    if (!this.#own || depth > 2 || entries.length > TOGETHER_MAX) return entries;
    return entries.flatMap(([key, value]): readonly Field[] => {
      const kept: Field = [key, value];
      const read: Entries = new Map(entries.filter((one) => one[0] !== key));
      const holder = Object.hasOwn(properties, key)
        ? key
        : (this.#targetOf(key, null, properties, read) ?? '');
      const takesMore = typesOf(properties[holder] ?? {}).some((type) => /array|object/.test(String(type)));
      if (!isJsonObject(value) || takesMore || TEXTS.test(holder) || properties[holder]?.anyOf) return [kept];
      const inner = this.#spread(Object.entries(value), properties, depth + 1);
      // Nothing in it says what was meant.
      if (inner.length === 0) return [kept];
      for (const [name, one] of inner) {
        const target = this.#targetOf(name, one, properties, read);
        if (target === null && !isNoise(name, one)) return [kept];
        read.set(target ?? name, one);
      }
      this.#note(`${key}: its fields were read as the tool's`);
      return inner;
    });
  }

  /** The missing parameter that a key stands for; null if there is none, or more than one. */
  #targetOf(key: string, value: unknown, properties: Properties, read: Entries): string | null {
    const plain = plainName(key);
    const missing = Object.keys(properties).filter((name) => !read.has(name));
    const spelt = missing.filter((name) => plainName(name) === plain);
    const [only, ...more] =
      spelt.length > 0 || !this.#own
        ? spelt
        : missing.filter((name) => namesOf(name).includes(plain.replace(UNITS, 'timeout')));
    if (only !== undefined && more.length === 0) return only;
    const profiles = this.#isKind(plain) && !read.has('profile') ? properties.profile?.enum : undefined;
    const word = plainName(wordOf(value) ?? '');
    return Array.isArray(profiles) && profiles.some((one) => plainName(one) === word) ? 'profile' : null;
  }

  /** Whether an object stands for a parameter that takes none. */
  #isNoPlace(schema: JsonObject, value: unknown, field: string): boolean {
    return (
      isJsonObject(value) &&
      schema.anyOf === undefined &&
      !accepts(schema, value) &&
      this.#converted(schema, value, field) === value
    );
  }

  /** Whether a key is for the kind of an agent. */
  #isKind(plain: string): boolean {
    const creates = ASIDE.has(this.#name) || this.#name === 'subagent_spawn';
    return (creates && this.#own ? AGENT_KIND : AGENT_TYPE).test(plain);
  }

  #isIgnored(key: string, value: unknown): boolean {
    const [plain, word] = [plainName(key), wordOf(value) ?? ''];
    const is_kind = word !== '' && this.#isKind(plain);
    if (is_kind && !/^(general|general-purpose|default|worker|main)$/i.test(word))
      this.told.push(`${key} was ignored: there is no ${shortJson(value)} here`);
    const is_so =
      (ASIDE.has(this.#name) && word === 'true' && plain.endsWith('background')) ||
      (this.#name === 'send' && plain === 'summary') ||
      (this.#name === 'fork' && plain === 'forkcontext' && word === 'true');
    return this.#own && (is_so || is_kind || isNoise(key, value));
  }

  /** Adds what is required and missing where something sensible follows from the rest. */
  withDefaults({ name, input: schema }: ReadTool, input: unknown): unknown {
    if (!isJsonObject(input)) return input;
    const [missing, ...more] = requiredOf(schema).filter((one) => !Object.hasOwn(input, one));
    const task = input.prompt ?? input.task;
    // Nothing of what stands beside the result is lost.
    const keys = Object.keys(input);
    if (name === 'submit_result' && (missing === undefined ? keys.length > 1 : keys.length > 0))
      return this.#changed('', input, { result: JSON.stringify(input) });
    if (missing === undefined || more.length > 0) return input;
    const is_wait = name === 'wait' && missing === 'timeout';
    if (is_wait) this.told.push(`timeout was missing: ${WAIT_SECONDS} s`);
    if (!is_wait && (typeof task !== 'string' || !/^(name|description)$/.test(missing))) return input;
    const value = is_wait ? WAIT_SECONDS : nameOfTask(task as string, null);
    return { ...input, [missing]: this.#changed(missing, undefined, value) };
  }
}

/** Whether a parameter that other programs ask for changes nothing with this value. */
function isNoise(key: string, value: unknown): boolean {
  const values = IGNORED.get(plainName(key)) ?? [];
  return values.includes('*') || values.includes(wordOf(value) ?? '');
}

/** `everyMs` and `atMs` of other programs, a span and an instant; any other value as it is. */
function inMilliseconds(name: string, value: unknown): unknown {
  const [ms, plain] = [numberOf(value), plainName(name)];
  if (ms === undefined) return value;
  if (plain === 'everyms') return `${ms}ms`;
  return plain === 'atms' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : value;
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…`.toWellFormed() : text;
}

function typesOf({ type, enum: values }: JsonObject): readonly unknown[] {
  return type === undefined ? (values === undefined ? [] : ['string']) : [type].flat();
}

export function accepts(schema: JsonObject, value: unknown): boolean {
  if (Array.isArray(schema.enum) && typeof value === 'string') return schema.enum.includes(value);
  const types = typesOf(schema);
  const type = jsonType(value);
  return types.length === 0 || types.includes(type) || (type === 'number' && types.includes('integer'));
}

type Properties = Readonly<Record<string, JsonObject>>;

export function propertiesOf(schema: JsonObject): Properties {
  return (schema.properties ?? {}) as Properties;
}

export function requiredOf(schema: JsonObject): readonly string[] {
  return Array.isArray(schema.required) ? (schema.required as string[]) : [];
}

function namesOf(parameter: string): readonly string[] {
  return [plainName(parameter), ...(ALIASES.get(parameter) ?? [])];
}

/** The missing list of objects whose single item some models write without the list. */
function listOf(schema: JsonObject, read: Entries): { name: string; properties: Properties } | null {
  const properties = propertiesOf(schema);
  const name = requiredOf(schema).find((one) => !read.has(one) && isJsonObject(properties[one]?.items)) ?? '';
  const item = fieldsOf(properties[name]?.items);
  return item.properties === undefined ? null : { name, properties: propertiesOf(item) };
}

function sameElsewhere(key: string, value: unknown, read: Entries): boolean {
  const twins = [...read].filter(([name]) => namesOf(name).includes(plainName(key)));
  return twins.some(([, one]) => JSON.stringify(one) === JSON.stringify(value));
}

/** The command of an argument list: `["bash", "-lc", COMMAND]`, or words that need no quotes. */
function shellCommand(words: readonly unknown[]): string | null {
  if (!words.every((word) => typeof word === 'string')) return null;
  const [shell = '', flag = '', command = '', ...more] = words;
  if (more.length === 0 && /^(\/bin\/)?(ba|z)?sh$/.test(shell) && /^-l?c$/.test(flag)) return command || null;
  return words.every((word) => /^[\w./:=@%+,-]+$/.test(word)) ? words.join(' ') : null;
}
