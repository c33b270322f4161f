import { given } from '../text/json-fields.ts';
import { isJsonObject } from '../text/json-text.ts';

/** Value that a person gives for one field; `string[]` for `choices`. */
export type FormValue = string | number | boolean | readonly string[];

interface Choice {
  readonly value: string;
  readonly title?: string;
}

/** One field of a form, read from a JSON Schema. */
export interface FormField {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  readonly default?: FormValue;
  /** Only for `choice` and `choices`. */
  readonly choices?: readonly Choice[];
  /** Inclusive bounds: characters of a text, value of a number, or number of choices. */
  readonly min?: number;
  readonly max?: number;
  readonly format?: 'email' | 'uri' | 'date' | 'date-time';
  /** Only shown to the person; the asker validates it. */
  readonly pattern?: string;
}

const FIELDS_MAX = 40;
const CHOICES_MAX = 200;
const TEXT_MAX = 1_000;
const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

/** How the two keywords that bound each kind end. */
const BOUNDS: Readonly<Record<FormField['kind'], string>> = {
  ...{ text: 'Length', number: 'imum', integer: 'imum', boolean: 'imum', choice: 'Length', choices: 'Items' },
};

type Schema = Readonly<Record<string, unknown>>;

/** Returns the fields of a flat form; null if the schema describes none, or one too large to show. */
export function formFields(schema: unknown): readonly FormField[] | null {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return null;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const entries = Object.entries(schema.properties);
  if (entries.length > FIELDS_MAX) return null;
  const fields = entries.map(([name, one]) => fieldOf(name, one, required.has(name)));
  return fields.every((field) => field !== null) ? fields : null;
}

function fieldOf(name: string, schema: unknown, required: boolean): FormField | null {
  if (!isJsonObject(schema) || name === '' || name.length > TEXT_MAX) return null;
  const kind = kindOf(schema);
  const choices = choicesOf(schema);
  if (kind === null || choices === null) return null;
  if (kind.startsWith('choice') === (choices.length === 0)) return null;
  const { title, description, pattern, format } = schema;
  const texts = [title, description, pattern].filter((one) => one !== undefined);
  if (!texts.every((one) => typeof one === 'string' && one.length <= TEXT_MAX)) return null;
  const known = FORMATS.find((one) => one === format);
  const bounds = BOUNDS[kind];
  const [min, max] = [numberIn(schema, `min${bounds}`), numberIn(schema, `max${bounds}`)];
  return {
    ...{ name, kind, required },
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(isValue(schema.default) && { default: schema.default }),
    ...(choices.length > 0 && { choices }),
    ...given({ min, max, format: known }),
    ...(typeof pattern === 'string' && { pattern }),
  };
}

function kindOf(schema: Schema): FormField['kind'] | null {
  switch (schema.type) {
    case 'string':
      return Array.isArray(schema.enum) || Array.isArray(schema.oneOf) ? 'choice' : 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type;
    case 'array':
      return 'choices';
    default:
      return null;
  }
}

/** Returns null if the choices cannot be shown. */
function choicesOf(schema: Schema): readonly Choice[] | null {
  const from = schema.type === 'array' ? schema.items : schema;
  if (!isJsonObject(from)) return null;
  const titled = schema.type === 'array' ? from.anyOf : from.oneOf;
  const listed: readonly unknown[] = Array.isArray(titled)
    ? titled.map((one: unknown) => (isJsonObject(one) ? choice(one.const, one.title) : null))
    : Array.isArray(from.enum)
      ? from.enum.map((value: unknown, at) => choice(value, namesOf(from)[at]))
      : [];
  if (listed.length > CHOICES_MAX || listed.includes(null)) return null;
  return listed as readonly Choice[];
}

function namesOf({ enumNames }: Schema): readonly unknown[] {
  return Array.isArray(enumNames) ? enumNames : [];
}

function choice(value: unknown, title: unknown): Choice | null {
  if (typeof value !== 'string' || value.length > TEXT_MAX) return null;
  return typeof title === 'string' && title !== value && title.length <= TEXT_MAX
    ? { value, title }
    : { value };
}

function numberIn(schema: Schema, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' ? value : undefined;
}

function isValue(value: unknown): value is FormValue {
  if (Array.isArray(value))
    return value.length <= CHOICES_MAX && value.every((one) => typeof one === 'string');
  if (typeof value === 'string') return value.length <= TEXT_MAX;
  return typeof value === 'number' || typeof value === 'boolean';
}

/** Describes the valid values of a field: `number, 1 to 5, required`. */
export function fieldText(field: FormField): string {
  const { kind, required, choices = [], format, pattern } = field;
  const names = choices.map(({ value, title }) => (title === undefined ? value : `${value} (${title})`));
  const what: Readonly<Record<FormField['kind'], string>> = {
    text: format ?? 'text',
    number: 'number',
    integer: 'whole number',
    boolean: 'true or false',
    choice: `one of ${hasNumbers(field) ? names.map((name, at) => `${at + 1}. ${name}`).join(', ') : names.join(', ')}`,
    choices: `any of ${names.join(', ')}`,
  };
  return [
    what[kind],
    ...boundsOf(field),
    ...(pattern === undefined ? [] : [`matching ${pattern}`]),
    ...(field.default === undefined ? [] : [`otherwise ${JSON.stringify(field.default)}`]),
    ...(required ? ['required'] : []),
  ].join(', ');
}

/** The field that a person has to fill in, if it is the only one: an answer without a name is its value. */
export function neededField(fields: readonly FormField[]): FormField | null {
  const [only, ...more] = fields.filter((field) => field.required && field.default === undefined);
  return only === undefined || more.length > 0 ? null : only;
}

/** The values to choose from, of which one is the value of the field; empty if it has to be written. */
export function choicesFor({ kind, choices = [] }: FormField): readonly Choice[] {
  return kind === 'boolean' ? YES_NO : kind === 'choice' ? choices : [];
}

const YES_NO: readonly Choice[] = [
  { value: 'true', title: 'yes' },
  { value: 'false', title: 'no' },
];

/** The choice that a person means: its value, its title, or its number, from 1. */
export function meantChoice(field: FormField, said: string): Choice | null {
  const choices = field.kind === 'choices' ? (field.choices ?? []) : choicesFor(field);
  const text = said.trim();
  return (
    choices.find(({ value }) => value === said) ??
    choices.find(({ value, title }) => value.trim() === text || title === text) ??
    (hasNumbers(field) && /^\d{1,3}$/.test(text) ? (choices[Number(text) - 1] ?? null) : null)
  );
}

/** Whether choices can be named by their numbers: none of them is a number itself. */
function hasNumbers({ choices = [] }: FormField): boolean {
  return !choices.some(({ value, title }) => [value, title].some((one) => /^\s*\d+\s*$/.test(one ?? '')));
}

/** `1 to 5`, `at least 2 of them`. */
export function boundsOf({ kind, min, max }: FormField): readonly string[] {
  if (min === undefined && max === undefined) return [];
  const unit = kind === 'text' ? ' characters' : kind === 'choices' ? ' of them' : '';
  if (max === undefined) return [`at least ${min}${unit}`];
  return [min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`];
}
