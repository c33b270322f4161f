import type { Entity, FormattedText } from '../chat/formatted-text.ts';

/** Writes a formatted text as Slack's mrkdwn. Everything else in it is escaped, so that no text of an agent mentions people or channels. */
export function mrkdwnOf({ text, entities }: FormattedText): string {
  return written(text, entities, 0, text.length);
}

/** Entities are nested, outer ones first. */
function written(text: string, entities: readonly Entity[], from: number, to: number): string {
  let [out, at] = ['', from];
  for (let index = 0; index < entities.length; ) {
    const outer = entities[index] as Entity;
    const end = outer.offset + outer.length;
    const inner = entities.slice(index + 1).filter(({ offset }) => offset < end);
    out += escaped(text.slice(at, outer.offset)) + marked(outer, written(text, inner, outer.offset, end));
    at = end;
    index += 1 + inner.length;
  }
  return out + escaped(text.slice(at, to));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function marked(entity: Entity, text: string): string {
  switch (entity.type) {
    case 'bold':
    case 'italic':
    case 'strikethrough': {
      // A mark next to a space is shown as it is.
      const sign = { bold: '*', italic: '_', strikethrough: '~' }[entity.type];
      return text.replace(/\S(?:[\s\S]*\S)?/, (words) => `${sign}${words}${sign}`);
    }
    case 'code':
      return `\`${text}\``;
    case 'pre':
      // A fence in the code would end it early; a space of no width keeps it from being one.
      return `\`\`\`\n${text.replaceAll('```', '`\u200b``')}\n\`\`\``;
    case 'blockquote':
      return text.replaceAll(/^/gm, '> ');
    case 'text_link':
      return `<${escaped(entity.url).replaceAll('|', '%7C')}|${text}>`;
  }
}
