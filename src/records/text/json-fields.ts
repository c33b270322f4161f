import { isJsonObject, type JsonObject } from './json-text.ts';

/** Fields of JSON that other programs write, read for what they mean. */

/** The fields of an object; none, if it is missing or something else. */
export function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A list; a single item that came without one is a list of it. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** An id, a name or another word, also if it came as a number; undefined if it is missing, empty or something else. */
export function wordOf(value: unknown): string | undefined {
  const known = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return known && value !== '' ? String(value) : undefined;
}

/** A count or an index, also if it came as text; undefined if it is missing or something else. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The object without fields that are undefined. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
