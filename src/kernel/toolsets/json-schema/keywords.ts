import { isJsonObject, type JsonObject } from '../../../records/text/json-text.ts';
import type { Check, Walk } from './walk.ts';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isJsonObject,
};

/** Whether the object has the field; own properties only, so that `constructor` does not count. */
export function has(value: JsonObject, key: string): boolean {
  return Object.hasOwn(value, key);
}

/** Keywords without nested schemas. Each throws an `Error` for an invalid value. */
export const SIMPLE: Readonly<Record<string, (value: unknown, keyword: string) => Check>> = {
  type(value) {
    const names = typeof value === 'string' ? [value] : value;
    if (!isTexts(names) || names.length === 0 || names.some((name) => !Object.hasOwn(TYPES, name)))
      throw new Error(`must be one or several of ${Object.keys(TYPES).join(', ')}`);
    return (given, path, walk) => {
      if (!names.some((name) => TYPES[name]?.(given))) walk.fault(path, `must be ${names.join(' or ')}`);
    };
  },
  enum(value) {
    if (!Array.isArray(value) || value.length === 0) throw new Error('must be a list of values');
    const known = new Set(value.map((one) => canonicalJson(one, () => undefined)));
    return (given, path, walk) => {
      if (!known.has(weighedCanonicalText(given, walk)))
        walk.fault(path, 'must be equal to one of the allowed values');
    };
  },
  const(value) {
    const wanted = canonicalJson(value, () => undefined);
    return (given, path, walk) => {
      if (weighedCanonicalText(given, walk) !== wanted) walk.fault(path, 'must be equal to constant');
    };
  },
  required(value) {
    if (!isTexts(value)) throw new Error('must be a list of names');
    return (given, path, walk) => {
      if (!isJsonObject(given)) return;
      walk.spend(value.length);
      for (const name of value)
        if (!has(given, name)) walk.fault(path, `must have required property '${name}'`);
    };
  },
  uniqueItems(value) {
    if (typeof value !== 'boolean') throw new Error('must be true or false');
    return (given, path, walk) => {
      if (!value || !Array.isArray(given)) return;
      const seen = new Set(given.map((one) => weighedCanonicalText(one, walk)));
      if (seen.size < given.length) walk.fault(path, 'must not have duplicate items');
    };
  },
  minLength: bound('string', (size, least) => size >= least, 'must have at least # characters'),
  maxLength: bound('string', (size, most) => size <= most, 'must have at most # characters'),
  minItems: bound('array', (size, least) => size >= least, 'must have at least # items'),
  maxItems: bound('array', (size, most) => size <= most, 'must have at most # items'),
  minProperties: bound('object', (size, least) => size >= least, 'must have at least # properties'),
  maxProperties: bound('object', (size, most) => size <= most, 'must have at most # properties'),
  minimum: numeric((value, least) => value >= least, 'must be >= #'),
  maximum: numeric((value, most) => value <= most, 'must be <= #'),
  exclusiveMinimum: numeric((value, least) => value > least, 'must be > #'),
  exclusiveMaximum: numeric((value, most) => value < most, 'must be < #'),
  multipleOf(value) {
    if (typeof value !== 'number' || !(value > 0)) throw new Error('must be a number above 0');
    return numeric(isMultiple, 'must be multiple of #')(value);
  },
};

/** Annotations, which are allowed and check nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$comment $defs definitions title description default example examples format deprecated readOnly writeOnly contentEncoding contentMediaType'.split(
    ' ',
  ),
);

function bound(
  type: 'string' | 'array' | 'object',
  holds: (size: number, wanted: number) => boolean,
  text: string,
): (value: unknown) => Check {
  return (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
      throw new Error('must be a whole number, 0 or more');
    return (given, path, walk) => {
      if (TYPES[type]?.(given) && !holds(sizeOf(given, walk), value))
        walk.fault(path, text.replace('#', String(value)));
    };
  };
}

function numeric(holds: (value: number, wanted: number) => boolean, text: string): (value: unknown) => Check {
  return (value) => {
    if (typeof value !== 'number') throw new Error('must be a number');
    return (given, path, walk) => {
      if (typeof given === 'number' && !holds(given, value))
        walk.fault(path, text.replace('#', String(value)));
    };
  };
}

/** Tolerates binary fractions: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Number.isInteger(times) || Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

/** Number of characters, items or fields. */
function sizeOf(value: unknown, walk: Walk): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return Object.keys(value as object).length;
  walk.spend(value.length / 16);
  let size = 0;
  for (const _ of value) size += 1;
  return size;
}

function weighedCanonicalText(value: unknown, walk: Walk): string {
  return canonicalJson(value, (steps) => walk.spend(steps));
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Returns the same text for equal JSON values, independent of key order; `spend` is called with the steps for each value, more for long texts. */
export function canonicalJson(value: unknown, spend: (steps: number) => void): string {
  if (typeof value === 'string') {
    spend(4 + value.length / 16);
    return JSON.stringify(value);
  }
  spend(4);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one, spend)).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one, spend)}`).join()}}`;
}
