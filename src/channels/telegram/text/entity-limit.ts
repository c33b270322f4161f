import type { Entity } from './formatted-text.ts';

/** The Bot API ignores further marks of a message. */
const ENTITIES_MAX = 100;
/** Marks that change how a text reads stay. */
const RANK: readonly Entity['type'][] = [
  'pre',
  'text_link',
  'blockquote',
  'code',
  'bold',
  'italic',
  'strikethrough',
];

/** As many marks as one message may have. */
export function limitEntities(entities: readonly Entity[]): readonly Entity[] {
  if (entities.length <= ENTITIES_MAX) return entities;
  const ranked = entities.toSorted((a, b) => RANK.indexOf(a.type) - RANK.indexOf(b.type));
  const kept = new Set(ranked.slice(0, ENTITIES_MAX));
  return entities.filter((entity) => kept.has(entity));
}
