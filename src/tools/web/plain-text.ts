/** Extracts the text of HTML that is too deep or too broken for a parser; every step moves forward, so it takes time linear in the length. */

/** Elements without text for readers. */
export const TEXTLESS: readonly string[] = 'script style noscript template svg iframe object canvas'.split(
  ' ',
);
const LINE_ENDS =
  /^(?:p|div|br|li|tr|h[1-6]|section|article|ul|ol|table|pre|blockquote|header|footer|nav|dt|dd|hr|title)$/;
const UNNESTED = new Set(
  'area base br col embed hr img input link meta source track wbr p li td th tr dt dd option optgroup tbody thead tfoot colgroup'.split(
    ' ',
  ),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Approximate nesting depth of elements; void elements, and those whose end tag is often omitted, are not counted. */
export function nestingOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z][a-z\d-]*)/gi)) {
    if (UNNESTED.has(name.toLowerCase())) continue;
    depth = Math.max(0, depth + (slash === '' ? 1 : -1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

export function plainText(html: string): string {
  // Other letters may change their length: a lower-case İ is two characters.
  const folded = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    parts.push(html.slice(at, open === -1 ? undefined : open).replaceAll(/\s+/g, ' '));
    if (open === -1) break;
    const tag = /^<(\/?)([a-z][a-z\d-]*|!--|[!?])/.exec(folded.slice(open, open + 40));
    if (tag === null) {
      parts.push('<');
      at = open + 1;
      continue;
    }
    const [, slash, name = ''] = tag;
    if (LINE_ENDS.test(name)) parts.push('\n');
    const textless = slash === '' && TEXTLESS.includes(name);
    const last =
      name === '!--' ? folded.indexOf('-->', open) : textless ? folded.indexOf(`</${name}`, open) : open;
    const close = last === -1 ? -1 : folded.indexOf('>', last);
    if (close === -1) break;
    at = close + 1;
  }
  return parts.join('').replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, decoded);
}

function decoded(written: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? written;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0x10ffff ? written : String.fromCodePoint(code);
}
