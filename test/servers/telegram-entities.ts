/** Checks a message's entities as the Bot API does. Returns the problem; null if there is none. */
export interface WireEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

const KNOWN: ReadonlySet<string> = new Set([
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'code',
  'pre',
  'text_link',
  'blockquote',
  'expandable_blockquote',
]);
/** Entities that may be nested with any other type, except code. */
const STYLES: ReadonlySet<string> = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler']);
const QUOTES: ReadonlySet<string> = new Set(['blockquote', 'expandable_blockquote']);

export function entityProblem(text: string, entities: readonly WireEntity[]): string | null {
  for (const entity of entities) {
    const { type, offset, length, url } = entity;
    if (!KNOWN.has(type)) return `unknown entity type ${type}`;
    if (!Number.isInteger(offset) || !Number.isInteger(length) || offset < 0 || length <= 0)
      return 'ENTITY_BOUNDS_INVALID';
    if (offset + length > text.length) return 'ENTITY_BOUNDS_INVALID';
    if (splitsCharacter(text, offset) || splitsCharacter(text, offset + length))
      return 'ENTITY_BOUNDS_INVALID';
    if (type === 'text_link' && !/^(?:https?:\/\/[^/]|mailto:|tg:)/.test(url ?? ''))
      return 'ENTITY_TEXTURL_INVALID';
  }
  for (const [index, one] of entities.entries())
    for (const other of entities.slice(index + 1)) {
      const problem = clash(one, other);
      if (problem !== null) return problem;
    }
  return null;
}

function clash(one: WireEntity, other: WireEntity): string | null {
  const [a, b] = one.offset <= other.offset ? [one, other] : [other, one];
  const [a_end, b_end] = [a.offset + a.length, b.offset + b.length];
  if (b.offset >= a_end) return null;
  const nested = b_end <= a_end || (a.offset === b.offset && a_end <= b_end);
  if (!nested) return `can't parse entities: ${a.type} and ${b.type} cross`;
  const types = [a.type, b.type];
  if (types.includes('code') || types.includes('pre'))
    return types.some((type) => QUOTES.has(type))
      ? null
      : `can't parse entities: ${types.join(' and ')} overlap`;
  if (a.type === b.type) return `can't parse entities: ${a.type} within itself`;
  if (types.some((type) => STYLES.has(type))) return null;
  return types.filter((type) => QUOTES.has(type)).length === 1
    ? null
    : `can't parse entities: ${types.join(' and ')} overlap`;
}

function splitsCharacter(text: string, place: number): boolean {
  return /[\ud800-\udbff]/.test(text[place - 1] ?? '') && /[\udc00-\udfff]/.test(text[place] ?? '');
}
