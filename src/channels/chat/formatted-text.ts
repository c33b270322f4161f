/** Formatting of a part of a text, as in the Bot API. `offset` and `length` count UTF-16 units. */
export type Entity =
  | {
      readonly type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'blockquote';
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: 'pre'; readonly offset: number; readonly length: number; readonly language?: string }
  | { readonly type: 'text_link'; readonly offset: number; readonly length: number; readonly url: string };

/** Text and its formatting, kept apart, so that nothing needs escaping. */
export interface FormattedText {
  readonly text: string;
  /** Sorted by offset, longer ones first. Nested as the Bot API demands: none partly overlaps another, none covers code. */
  readonly entities: readonly Entity[];
}

/** Maximum entities of a message; the Bot API ignores further ones. */
const ENTITIES_MAX = 100;
/** Entity types by importance to the meaning, the most important first. */
export const ENTITY_TYPES: readonly Entity['type'][] = [
  'pre',
  'text_link',
  'blockquote',
  'code',
  'bold',
  'italic',
  'strikethrough',
];

/** Drops the least important entities beyond the limit of one message. */
export function limitEntities(entities: readonly Entity[]): readonly Entity[] {
  if (entities.length <= ENTITIES_MAX) return entities;
  const ranked = entities.toSorted((a, b) => ENTITY_TYPES.indexOf(a.type) - ENTITY_TYPES.indexOf(b.type));
  const kept = new Set(ranked.slice(0, ENTITIES_MAX));
  return entities.filter((entity) => kept.has(entity));
}

/** Any character except spaces, control and format characters, and blank letters. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Z}\p{DI}\u2800]/u;

/** Whether the text has a visible character; Telegram refuses a text without one as empty. */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}
