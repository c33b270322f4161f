import { cutText } from '../../records/text/cut-text.ts';
import { isJsonObject, parseJson } from '../../records/text/json-text.ts';
import { unescaped } from '../../render/markdown/unescaped.ts';

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

/** Of a page, what nobody reads; what is not closed reaches to the end. */
const MARKUP =
  /<(head|script|style|svg)\b[\s\S]*?(?:<\/\1\s*>|$)|<!--[\s\S]*?(?:-->|$)|<[^>]*(?:>|$)|&nbsp;/gi;
const PAGE_MAX = 200;

/** The same for a body, which may be JSON, plain text, or a page of a gateway: its words, else its title, without the status, which everybody is told. */
export function saidInBody(body: string): string | null {
  const parsed = parseJson(body);
  if (parsed.ok) return saidIn(parsed.value);
  if (!/^\s*</.test(body)) return saidIn(body);
  const [, title = ''] = /<title\b[^>]*>([^<]*)/i.exec(body) ?? [];
  const read = [body.replace(MARKUP, ' '), title].map((text) =>
    unescaped(text)
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/^[45]\d\d\b\W*/, ''),
  );
  return saidIn(cutText(read.find((text) => text !== '') ?? '', PAGE_MAX, '…'));
}
