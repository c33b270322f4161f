import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Image } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { counted } from '../../records/text/text.ts';
import { imagesOf } from '../provider/picture-budget.ts';

/** Maximum characters of a result in a transcript; the program can look up what it needs. */
const MAX_RESULT = 4_000;

/**
 * The first prompt of a session. A single user message is sent unchanged; a longer conversation is preceded by a transcript, because sessions start
 * empty. `pictures`: the program accepts images.
 */
export function firstPrompt(
  system: string,
  messages: readonly PromptMessage[],
  pictures: boolean,
): ContentBlock[] {
  const { before, newest } = splitNewest(messages);
  const sections = [
    system === '' ? '' : `# Instructions\n\n${system}`,
    before.length === 0 ? '' : `# Conversation so far\n\n${before.map(transcript).join('\n\n')}`,
  ].filter((section) => section !== '');
  const ask = askOf(newest, before.length > 0);
  const text = sections.length === 0 ? ask : [...sections, `# Now\n\n${ask}`].join('\n\n');
  return blocks(text, before.length === 0 ? newest : messages, pictures);
}

/** A later prompt, from the `messages` that the session has not seen. Answers by `model` are left out: the session knows them. */
export function nextPrompt(
  messages: readonly PromptMessage[],
  model: string,
  pictures: boolean,
): ContentBlock[] {
  const unknown = messages.filter((message) => message.role !== 'assistant' || message.model !== model);
  const { before, newest } = splitNewest(unknown);
  const said = before.map(transcript);
  const text = [...said, askOf(newest, true)].join('\n\n');
  return blocks(text, unknown, pictures);
}

/** The user messages at the end, and all messages before them. */
function splitNewest(messages: readonly PromptMessage[]) {
  const last = messages.findLastIndex((message) => message.role !== 'user');
  return { before: messages.slice(0, last + 1), newest: messages.slice(last + 1) };
}

function askOf(newest: readonly PromptMessage[], began: boolean): string {
  const text = newest.flatMap((message) => (message.role === 'user' ? [message.text] : [])).join('\n\n');
  if (text.trim() !== '') return text;
  return began ? 'Go on.' : '(empty)';
}

function transcript(message: PromptMessage): string {
  switch (message.role) {
    case 'user':
      return `User: ${message.text}${pictureNote(message.images)}`;
    case 'assistant':
      return message.parts
        .flatMap((part) => {
          if (part.type === 'reasoning') return [];
          return part.type === 'text'
            ? [`Assistant: ${part.text}`]
            : [`Assistant used ${part.name}: ${part.input}`];
        })
        .join('\n');
    case 'results':
      return message.results
        .map(
          ({ name, status, output, images }) =>
            `Result of ${name} (${status}): ${shortened(output)}${pictureNote(images)}`,
        )
        .join('\n');
  }
}

function shortened(text: string): string {
  return text.length <= MAX_RESULT
    ? text
    : `${cutText(text, MAX_RESULT)}\n[… ${text.length - MAX_RESULT} characters left out …]`.toWellFormed();
}

function pictureNote(images: readonly Image[] | undefined): string {
  const count = images?.length ?? 0;
  return count === 0 ? '' : ` [${counted(count, 'picture')}]`;
}

function blocks(text: string, messages: readonly PromptMessage[], pictures: boolean): ContentBlock[] {
  const images = messages.flatMap(imagesOf);
  if (images.length === 0) return [{ type: 'text', text }];
  if (!pictures)
    return [
      { type: 'text', text: `${text}\n\n[${images.length} pictures are left out: this program takes none]` },
    ];
  return [
    { type: 'text', text },
    ...images.map(
      (image): ContentBlock => ({ type: 'image', mimeType: image.media_type, data: image.base64 }),
    ),
  ];
}
