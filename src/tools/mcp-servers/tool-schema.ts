import { hash } from 'node:crypto';
import { orElse } from '../../records/coppice-error.ts';
import { fieldsOf } from '../../records/text/json-fields.ts';
import { isJsonObject, type JsonObject, storableJson } from '../../records/text/json-text.ts';
import { namesInReference } from '../../records/text/text.ts';

/** The input of a tool in a form that every provider accepts. */
export interface ToolSchema {
  /** A JSON Schema of type `object`; without any properties if the server's schema is too large or too deep. */
  readonly input: JsonObject;
  /** The server's names of fields whose names some providers refuse, by those that models see instead. */
  readonly names: ReadonlyMap<string, string>;
}

const SCHEMA_MAX = 24_000;
const SCHEMA_DEPTH = 40;
const ANY: ToolSchema = { input: { type: 'object', properties: {} }, names: new Map() };
/** Names of fields that every provider accepts (Anthropic's rule is the strictest). */
const FIELD = /^[a-zA-Z0-9_.-]{1,64}$/;

type Form = (value: unknown, adapt: (schema: unknown) => JsonObject) => unknown;

const text: Form = (value) => (typeof value === 'string' ? value : undefined);
const number: Form = (value) => (typeof value === 'number' ? value : undefined);
const count: Form = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);
const flag: Form = (value) => (typeof value === 'boolean' ? value : undefined);
const schema: Form = (value, adapt) =>
  isJsonObject(value) || typeof value === 'boolean' ? adapt(value) : undefined;
const more: Form = (value, adapt) => (typeof value === 'boolean' ? value : schema(value, adapt));
const schemas: Form = (value, adapt) =>
  Array.isArray(value) && value.length > 0 ? value.map((one) => adapt(one)) : undefined;
const named: Form = (value, adapt) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, adapt(one)]))
    : undefined;
const type: Form = (value) => {
  const all = [value].flat();
  return all.length > 0 && all.every((one) => TYPES.has(one)) ? (all.length === 1 ? all[0] : all) : undefined;
};
const TYPES = new Set<unknown>(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

function of(form: Form, keywords: string): Readonly<Record<string, Form>> {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, form]));
}

/** What the values of keywords must be. Others are left out: that only allows more, and the server checks its arguments itself. */
const FORMS: Readonly<Record<string, Form>> = {
  ...of(text, 'title description format $comment $ref'),
  ...of(number, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'),
  ...of(count, 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'),
  ...of(flag, 'nullable deprecated readOnly writeOnly uniqueItems'),
  ...of(schema, 'items contains propertyNames not if then else'),
  ...of(more, 'additionalProperties unevaluatedProperties additionalItems'),
  ...of(schemas, 'anyOf oneOf allOf prefixItems'),
  ...of(named, 'properties patternProperties $defs definitions dependentSchemas'),
  ...of(() => undefined, '$schema $id'),
  type,
  required: (value) =>
    Array.isArray(value) ? [...new Set(value)].filter((one) => typeof one === 'string') : undefined,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? [...new Set(value)] : undefined),
  examples: (value) => (Array.isArray(value) ? value : undefined),
  pattern: (value) => {
    return orElse(() => (typeof value === 'string' && new RegExp(value, 'u') ? value : undefined), undefined);
  },
};

const HEADER = 'x-mcp-header';
/** Types of fields that may be headers. */
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** Why no client may offer this tool over HTTP from version 2026-07-28 of the protocol on: what is to be a header cannot be one. Null for no fault. */
function headerFault(root: JsonObject): string | null {
  const names = new Set<string>();
  let fault: string | null = null;
  /** `level`: number of `properties` on the way; -1 where another keyword is. */
  const visit = (one: unknown, level: number): JsonObject => {
    if (!isJsonObject(one)) return {};
    if (Object.hasOwn(one, HEADER)) {
      const name = String(one[HEADER]).toLowerCase();
      if (level <= 0) fault ??= 'is not at a field of the arguments';
      else if (typeof one[HEADER] !== 'string' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
        fault ??= 'does not name a header';
      else if (!HEADER_TYPES.includes(one.type))
        fault ??= 'is at a field that is not a string, an integer or a boolean';
      else if (names.has(name)) fault ??= 'names a header twice';
      names.add(name);
    }
    for (const [key, value] of Object.entries(one)) {
      const form =
        Array.isArray(value) && key === 'items' ? schemas : Object.hasOwn(FORMS, key) ? FORMS[key] : null;
      form?.(value, (inner) => visit(inner, key === 'properties' && level >= 0 ? level + 1 : -1));
    }
    return {};
  };
  visit(root, 0);
  return fault && `its "${HEADER}" ${fault}`;
}

/** Adapts a server's schema without changing what it means; returns why, if that cannot be done. `has_headers`: whether fields may be sent as headers. */
export function toolSchema(given: unknown, has_headers = false): ToolSchema | string {
  if (given === undefined || given === null || given === true) return ANY;
  if (!isJsonObject(given)) return 'its input schema is not a schema';
  if (isDeeper(given, SCHEMA_DEPTH)) return ANY;
  const fault = has_headers ? headerFault(given) : null;
  if (fault !== null) return fault;
  if (JSON.stringify(given).length > SCHEMA_MAX) return ANY;
  const root = storableJson(given) as JsonObject;
  let { $ref, oneOf: _, anyOf: __, allOf: ___, ...plain } = root;
  for (let hops = 0; typeof $ref === 'string' && hops < SCHEMA_DEPTH; hops += 1) {
    const target = placeIn(root, $ref);
    if (!isJsonObject(target)) break;
    const { $ref: next, oneOf: _, anyOf: __, allOf: ___, ...fields } = target;
    [$ref, plain] = [next, { ...fields, ...plain }];
  }
  const kind = type(plain.type, () => ({}));
  if (kind !== undefined && ![kind].flat().includes('object'))
    return `its input is not an object, but of type ${[kind].flat().join(' or ')}`;
  const names = new Map<string, string>();
  const properties = fieldsOf(plain.properties);
  return { input: adapted({ ...plain, properties, type: 'object' }, root, names), names };
}

function adapted(given: unknown, root: JsonObject, names: Map<string, string>): JsonObject {
  if (!isJsonObject(given)) return given === false ? { not: {} } : {};
  const kept = Object.entries(given).map(([key, value]) => {
    const form = Object.hasOwn(FORMS, key) ? FORMS[key] : undefined;
    return [key, form === undefined ? value : form(value, (one) => adapted(one, root, names))] as const;
  });
  const out: Record<string, unknown> = Object.fromEntries(kept.filter(([, value]) => value !== undefined));
  if (typeof out.$ref === 'string' && placeIn(root, out.$ref) === undefined) delete out.$ref;
  if ([out.type].flat().includes('array')) out.items ??= {};
  const { properties, required, ...rest } = out as { properties?: JsonObject; required?: readonly string[] };
  // Many servers declare what has a default as required, because they describe the values after parsing.
  const needed = required?.filter((name) => {
    if (properties === undefined) return true;
    const one = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return isJsonObject(one) && !('default' in one);
  });
  const fields = Object.entries(properties ?? {}).map(([name, one]) =>
    fieldOf(name, one as JsonObject, names),
  );
  return {
    ...rest,
    ...(properties !== undefined && { properties: Object.fromEntries(fields) }),
    ...(needed !== undefined &&
      needed.length > 0 && { required: needed.map((name) => nameFor(name, names)) }),
  };
}

function fieldOf(name: string, field: JsonObject, names: Map<string, string>): [string, JsonObject] {
  if (FIELD.test(name)) return [name, field];
  const said = `${field.description ?? ''} (its own name is ${JSON.stringify(name)})`.trim();
  return [nameFor(name, names), { ...field, description: said }];
}

function nameFor(name: string, names: Map<string, string>): string {
  if (FIELD.test(name)) return name;
  const readable = name.replaceAll(/[^a-zA-Z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
  const digest = hash('sha256', name).slice(0, 8);
  const made = `${readable.slice(0, 50) || 'field'}_${digest}`;
  names.set(made, name);
  return made;
}

/** What a reference within the schema leads to; undefined if nothing, or if it leads through a field that models see under another name. */
function placeIn(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/') && reference !== '#') return undefined;
  const path = namesInReference(reference);
  let at: unknown = root;
  for (const [index, name] of path.entries()) {
    if (path[index - 1] === 'properties' && !FIELD.test(name)) return undefined;
    at =
      typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as JsonObject)[name] : undefined;
  }
  return at;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** Arguments with the server's own names of fields. */
export function withServerNames({ names }: Pick<ToolSchema, 'names'>, value: unknown): unknown {
  if (names.size === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => withServerNames({ names }, one));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [names.get(name) ?? name, withServerNames({ names }, one)]),
  );
}
