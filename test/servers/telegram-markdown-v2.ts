import type { WireEntity } from './telegram-entities.ts';

/** The text without markup and its entities, or the error text of the Bot API. */
export type ParsedMarkdown =
  | { readonly text: string; readonly entities: WireEntity[] }
  | { readonly problem: string };

const MARKS: readonly (readonly [string, string])[] = [
  ['||', 'spoiler'],
  ['__', 'underline'],
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strikethrough'],
];
const RESERVED = '_*[]()~`>#+-=|{}.!';

/** Parses MarkdownV2 as strictly as the Bot API: a reserved character that is neither a mark nor escaped is an error. */
export function parseMarkdownV2(source: string): ParsedMarkdown {
  let text = '';
  const entities: WireEntity[] = [];
  const open: {
    readonly mark: string;
    readonly type: string;
    readonly offset: number;
    readonly at: number;
  }[] = [];
  const bytes = (place: number) => Buffer.byteLength(source.slice(0, place));
  const unclosed = (type: string, at: number): ParsedMarkdown => ({
    problem: `can't parse entities: Can't find end of ${type} entity at byte offset ${bytes(at)}`,
  });
  for (let place = 0; place < source.length; ) {
    const character = source[place] as string;
    const rest = source.slice(place);
    if (character === '\\' && RESERVED.includes(source[place + 1] ?? ' ')) {
      text += source[place + 1];
      place += 2;
    } else if (character === '`') {
      const fence = rest.startsWith('```') ? '```' : '`';
      const end = source.indexOf(fence, place + fence.length);
      if (end < 0) return unclosed(fence === '`' ? 'Code' : 'Pre', place);
      const body = source.slice(place + fence.length, end);
      entities.push({ type: fence === '`' ? 'code' : 'pre', offset: text.length, length: body.length });
      text += body;
      place = end + fence.length;
    } else if (character === '[') {
      open.push({ mark: '[', type: 'text_link', offset: text.length, at: place });
      place += 1;
    } else if (character === ']' && open.at(-1)?.mark === '[') {
      const { offset, at } = open.pop() as (typeof open)[number];
      const url = /^\]\(([^)]*)\)/.exec(rest);
      if (url === null) return unclosed('TextUrl', at);
      entities.push({ type: 'text_link', offset, length: text.length - offset, url: url[1] as string });
      place += url[0].length;
    } else {
      const [mark, type] = MARKS.find(([start]) => rest.startsWith(start)) ?? [null, ''];
      if (mark !== null) {
        const top = open.at(-1);
        if (top?.mark === mark) {
          open.pop();
          entities.push({ type, offset: top.offset, length: text.length - top.offset });
        } else if (open.some((one) => one.mark === mark))
          return unclosed(top?.type ?? type, top?.at ?? place);
        else open.push({ mark, type, offset: text.length, at: place });
        place += mark.length;
      } else if (RESERVED.includes(character)) {
        return {
          problem: `can't parse entities: Character '${character}' is reserved and must be escaped with the preceding '\\'`,
        };
      } else {
        text += character;
        place += 1;
      }
    }
  }
  const left = open.at(-1);
  if (left !== undefined) return unclosed(left.type, left.at);
  return { text, entities: entities.filter(({ length }) => length > 0) };
}
