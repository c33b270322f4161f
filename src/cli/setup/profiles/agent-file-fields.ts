import { cutText } from '../../../records/text/cut-text.ts';
import { clean } from '../../../render/clean.ts';

/** The fields of an agent file by our names for them. Functions that read one throw an Error that names the key as it was written. */
export interface Fields {
  has(key: string): boolean;
  get(key: string): unknown;
  /** The key as it was written, for messages. */
  written(key: string): string;
}

export function expected(key: string, what: string, value: unknown): Error {
  return new Error(`"${key}" must be ${what}, not ${shown(value)}`);
}

export function shown(value: unknown): string {
  if (value === null) return 'empty';
  if (value instanceof Map) return 'a mapping';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? JSON.stringify(clip(clean(value))) : String(value);
}

export function clip(text: string): string {
  return cutText(text, 40, '…');
}

export function textOf(fields: Fields, key: string): string | null {
  if (!fields.has(key)) return null;
  const value = fields.get(key);
  if (typeof value !== 'string') throw expected(fields.written(key), 'text', value);
  return value.trim();
}

export function yesOf(fields: Fields, key: string): boolean {
  const value = fields.get(key) ?? true;
  if (typeof value !== 'boolean') throw expected(fields.written(key), 'true or false', value);
  return value;
}

export function numberOf(fields: Fields, key: string, most: number): number | null {
  if (!fields.has(key)) return null;
  const value = fields.get(key);
  if (typeof value !== 'number' || !(value > 0 && value <= most))
    throw expected(fields.written(key), `a number above 0, at most ${most}`, value);
  return value;
}

export function wholeOf(fields: Fields, key: string): number | null {
  if (!fields.has(key)) return null;
  const value = fields.get(key);
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw expected(fields.written(key), 'a whole number, 1 or more', value);
  return value as number;
}
