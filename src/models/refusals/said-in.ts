import { isJsonObject, parseJson } from '../../records/text/json-text.ts';

/** Fields in which servers and gateways put the text of an error, in the order in which they are read. */
const FIELDS =
  'error message detail details errors msg error_description error_message status_msg base_resp'.split(' ');

/** Returns what a server says of an error, in whatever form it says it; null if nothing that people could read. */
export function saidIn(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (Array.isArray(value)) {
    const all = value.map(saidIn).filter((said) => said !== null);
    return all.length === 0 ? null : all.join('; ');
  }
  if (!isJsonObject(value)) return null;
  for (const field of FIELDS) {
    const said = saidIn(value[field]);
    if (said !== null) return said;
  }
  return null;
}

/** The same for a body, which may be JSON or plain text; a page is none. */
export function saidInBody(body: string): string | null {
  const parsed = parseJson(body);
  if (parsed.ok) return saidIn(parsed.value);
  return /^\s*</.test(body) ? null : saidIn(body);
}
