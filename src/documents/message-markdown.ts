import { outputText } from '../records/text/untrusted-text.ts';
import { clean, cleanLines, fenced } from '../render/clean.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

type Message = DocumentOf<'coppice/messages/v1'>['messages'][number];

/** A message of a conversation as Markdown, for exports and transcripts. */
export function markdownOf(message: Message): string {
  switch (message.kind) {
    case 'user': {
      const { origin, text } = message.content;
      return `\n**${origin === 'human' ? 'you' : origin}:**\n\n${quoted(text)}\n`;
    }
    case 'assistant':
      return message.content.parts
        .map((part) =>
          part.type === 'call'
            ? `\n\`${clean(part.read?.name ?? part.name)}\`\n\n${fenced(cleanLines(part.read?.input ?? part.input))}\n${part.read === undefined ? '' : `\n_${clean(part.read.changes.join('; '))}_\n`}`
            : part.type === 'text'
              ? `\n${cleanLines(part.text)}\n`
              : `\n_Thought:_\n\n${quoted(part.text)}\n`,
        )
        .join('');
    case 'result':
      return `\n\`${clean(message.content.name)}\` ${message.content.status}\n\n${fenced(cleanLines(outputText(message.content)))}\n`;
    case 'event':
      return `\n_${cleanLines(message.content.text).replaceAll(/\s*\n\s*/g, ' ')}_\n`;
    case 'capture':
      return message.content.mark === undefined ? `\n${quoted(message.content.text)}\n` : '';
  }
}

/** Markdown quotation, so that no line of the text can be taken for a heading. */
export function quoted(text: string): string {
  return cleanLines(text)
    .split('\n')
    .map((row) => `> ${row}`.trimEnd())
    .join('\n');
}
