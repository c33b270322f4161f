import { cutText } from '../../../records/text/cut-text.ts';
import { clean } from '../../../render/clean.ts';
import type { FormattedText } from '../text/formatted-text.ts';
import { hasVisible, limitEntities } from '../text/formatted-text.ts';
import { markdownEntities } from '../text/markdown-entities.ts';
import { TextBuilder } from '../text/text-builder.ts';

/** Maximum characters shown; of a longer text only the end is shown. */
const TEXT_MAX = 4_000;
const DOING_MAX = 80;
const ABRIDGED = '… ';

/** Content of a live message; null while there is nothing to show. */
export function liveText(text: string, doing: string | null): FormattedText | null {
  const said = lastOf(markdownEntities(text));
  const work = doing === null ? '' : shortened(clean(doing));
  if (!hasVisible(work)) return hasVisible(said.text) ? said : null;
  const builder = new TextBuilder();
  builder.styled('italic', () => builder.write(work));
  const now = builder.build();
  if (!hasVisible(said.text)) return now;
  const place = said.text.length + 2;
  const moved = now.entities.map((entity) => ({ ...entity, offset: entity.offset + place }));
  return { text: `${said.text}\n\n${now.text}`, entities: [...said.entities, ...moved] };
}

function lastOf({ text, entities }: FormattedText): FormattedText {
  const end = text.trimEnd().length;
  let start = Math.max(0, end - TEXT_MAX);
  if (start > 0 && /[\udc00-\udfff]/.test(text[start] as string)) start += 1;
  const before = start > 0 ? ABRIDGED : '';
  const moved = entities.flatMap((entity) => {
    const from = Math.max(entity.offset, start);
    const to = Math.min(entity.offset + entity.length, end);
    return to > from ? [{ ...entity, offset: from - start + before.length, length: to - from }] : [];
  });
  return { text: before + text.slice(start, end), entities: limitEntities(moved) };
}

function shortened(line: string): string {
  return cutText(line, DOING_MAX, '…');
}
