/** A mark over part of a text, in the shape of the Bot API. `offset` and `length` count UTF-16 units. */
export type Entity =
  | {
      readonly type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'blockquote';
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: 'pre'; readonly offset: number; readonly length: number; readonly language?: string }
  | { readonly type: 'text_link'; readonly offset: number; readonly length: number; readonly url: string };

/** Text and its marks, apart: whatever stands in the text is shown as it stands there. */
export interface FormattedText {
  readonly text: string;
  /** By offset, the longer first. They nest as the Bot API allows it: none crosses another, nothing lies over code. */
  readonly entities: readonly Entity[];
}
