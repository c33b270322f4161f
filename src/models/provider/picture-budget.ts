import type { Image } from '../../records/conversation/message.ts';
import type { PromptMessage } from '../../records/conversation/prompt-message.ts';

/** Maximums per request. The lowest provider limits are 20 MB (Gemini) and 100 images (Anthropic). */
const BASE64_MAX = 14 * 1024 * 1024;
const COUNT_MAX = 80;

const LEFT_OUT =
  'was seen before and is left out now: too many pictures for one request. Read it again if you need it.';

/**
 * Replaces the oldest images by text if there are more than every provider accepts. Drops half of them at once, so that the next requests keep a stable
 * prefix. Returns the same array if nothing was dropped.
 */
export function withinPictures(messages: readonly PromptMessage[]): readonly PromptMessage[] {
  const kept: { readonly image: Image; readonly size: number }[] = [];
  const gone = new Set<Image>();
  let size = 0;
  for (const image of messages.flatMap(imagesOf)) {
    kept.push({ image, size: image.base64.length });
    size += image.base64.length;
    if (size <= BASE64_MAX && kept.length <= COUNT_MAX) continue;
    while (size > BASE64_MAX / 2 || kept.length > COUNT_MAX / 2) {
      const oldest = kept.shift();
      if (oldest === undefined) break;
      gone.add(oldest.image);
      size -= oldest.size;
    }
  }
  return gone.size === 0 ? messages : messages.map((message) => without(message, gone));
}

export function imagesOf(message: PromptMessage): readonly Image[] {
  if (message.role === 'user') return message.images ?? [];
  return message.role === 'results' ? message.results.flatMap((result) => result.images ?? []) : [];
}

function without(message: PromptMessage, gone: ReadonlySet<Image>): PromptMessage {
  if (!imagesOf(message).some((image) => gone.has(image))) return message;
  const left = (images: readonly Image[] | undefined) => (images ?? []).filter((image) => !gone.has(image));
  if (message.role === 'user')
    return { ...message, text: `${message.text}\n\n[A picture ${LEFT_OUT}]`, images: left(message.images) };
  if (message.role !== 'results') return message;
  const results = message.results.map((result) =>
    (result.images ?? []).some((image) => gone.has(image))
      ? { ...result, output: `${result.output}\n[The picture ${LEFT_OUT}]`, images: left(result.images) }
      : result,
  );
  return { ...message, results };
}
