import { orElse } from '../coppice-error.ts';
import { storable } from './text.ts';

/** Maximum depth, far below the depth at which recursion would overflow the call stack. */
const DEPTH_MAX = 128;
/** Maximum values, keys included: more than a model's longest answer holds, few enough to walk within milliseconds. */
const VALUES_MAX = 50_000;
const LENGTH_MAX = 2_000_000;

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/**
 * Parses JSON from a model or another program. Size and depth are checked first, so that code that walks the value neither overflows the call stack
 * nor blocks the process. Never throws.
 */
export function parseJson(text: string): ParsedJson {
  const fault = jsonSizeFault(text);
  if (fault !== null) return { ok: false, error: fault };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

/** Parses JSON of any size, whose reader walks no more of it than it knows; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  return orElse(() => JSON.parse(text), undefined);
}

/** Returns where a text that is not JSON stops being JSON, such as `line 3, column 5`. Quotes nothing of it. */
export function jsonFaultPlace(text: string): string {
  const before = text.slice(0, faultPosition(text)).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Returns the offset where the text stops being JSON: the end of its longest prefix that could be continued to JSON. */
function faultPosition(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldBecomeJson(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function couldBecomeJson(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return (
      /^Unexpected end|^Unterminated/.test(message) ||
      (position !== undefined && Number(position) >= prefix.length)
    );
  }
}

/** What people write who know it from other readers of JSON, where the text stops being JSON; undefined if it is something else. */
export function jsonHabit(text: string): string | undefined {
  const at = faultPosition(text);
  if (/^(?:\/[/*]|#)/.test(text.slice(at))) return 'There are no comments in JSON: remove them';
  if (/^[}\]]/.test(text.slice(at)) && text.slice(0, at).trimEnd().endsWith(','))
    return 'There is no comma before } or ] in JSON: remove it';
  return text[at] === "'" ? 'Quotation marks are double in JSON: "…"' : undefined;
}

export function jsonType(value: unknown): string {
  // JSON.parse makes infinity of it.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large';
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON object as `parseJson` does; null for anything else. */
export function parsedObject(text: string): JsonObject | null {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

/** Makes all texts of a JSON value storable, also the names of its fields. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [storable(key), storableJson(one)]));
}

/** JSON whose texts, and those of all values in it, are well-formed: no server accepts half of a surrogate pair. Only values that have one are walked. */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? JSON.stringify(storableJson(value)) : text;
}

/** Returns why the text is too large or too deeply nested; null if it is not. Checks without parsing. */
export function jsonSizeFault(text: string): string | null {
  if (text.length > LENGTH_MAX) return `it has ${text.length} characters; the maximum is ${LENGTH_MAX}`;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > DEPTH_MAX) return `it is nested deeper than ${DEPTH_MAX} levels`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        values += 1;
        break;
    }
  }
  return values > VALUES_MAX ? `it contains more than ${VALUES_MAX} values` : null;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}
