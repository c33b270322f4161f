import { OutputCapture } from '../../processes/output/output-capture.ts';
import type { Image } from '../../records/conversation/message.ts';
import { fieldsOf, itemsOf, wordOf } from '../../records/text/json-fields.ts';
import { isJsonObject, type JsonObject } from '../../records/text/json-text.ts';
import type { ToolContext, ToolResult } from '../../records/tool.ts';
import { clean } from '../../render/clean.ts';
import { imageTypeOf } from '../files/file-kind.ts';
import { fitImage } from '../files/fit-image.ts';
import { IMAGE_BYTES } from '../files/read-image.ts';

/** Maximum pictures of one result, and maximum characters of each. */
const IMAGES_MAX = 8;
const BASE64_MAX = Math.ceil((IMAGE_BYTES * 4) / 3);

/**
 * Converts an answer to what a model gets: its text, which is kept in a file if it is too long, and its pictures. A block that cannot be read is named in its
 * place and costs no other.
 */
export async function toolResultOfCall(
  { content, structuredContent, isError }: JsonObject,
  context: Pick<ToolContext, 'spill_dir'>,
): Promise<ToolResult> {
  const images: Image[] = [];
  const pieces: string[] = [];
  const blocks = itemsOf(content);
  for (const block of blocks) pieces.push(await pieceOf(block, images));
  if (blocks.length === 0 && structuredContent != null)
    pieces.push(
      typeof structuredContent === 'string' ? structuredContent : JSON.stringify(structuredContent, null, 1),
    );
  const output = bounded(pieces, context.spill_dir);
  if (isError === true || isError === 'true')
    return { status: 'error', output: output === '' ? '[no message]' : output };
  const text = output === '' ? '[no output]' : output;
  return images.length === 0 ? { status: 'ok', output: text } : { status: 'ok', output: text, images };
}

function bounded(pieces: readonly string[], spill_dir: string): string {
  const capture = new OutputCapture(spill_dir, () => undefined);
  for (const [at, piece] of pieces.entries())
    capture.push(Buffer.from(at === 0 || piece === '' ? piece : `\n${piece}`));
  return capture.finish();
}

/** The text of a block of content; its picture is added to `images`. */
export async function pieceOf(block: unknown, images: Image[]): Promise<string> {
  if (typeof block === 'string') return block;
  if (!isJsonObject(block)) return '[a block is left out: it is not an object]';
  const { type, text, data, mimeType, uri, name, resource } = block;
  switch (type) {
    case 'image':
      return typeof data === 'string' ? pictureOf(data, images) : '[a picture is left out: it has no data]';
    case 'audio':
      return `[audio (${named(mimeType)}) is left out: not supported]`;
    case 'resource_link':
      return `[${named(name)}: ${named(uri)}]`;
    case 'resource': {
      const { text: said, blob, mimeType: media, uri: at } = fieldsOf(resource);
      const head = `[${named(at)}]`;
      if (typeof said === 'string') return `${head}\n${said}`;
      if (typeof blob !== 'string') return `${head} [a resource is left out: it has neither text nor data]`;
      if (named(media).startsWith('image/')) return `${head} ${await pictureOf(blob, images)}`;
      return `${head} [binary data (${named(media)}), ${blob.length} characters, is left out]`;
    }
    default:
      if (typeof text === 'string') return text;
      return `[a block of type ${named(type).slice(0, 100)} is left out: ${type === 'text' ? 'it has no text' : 'not supported'}]`;
  }
}

function named(value: unknown): string {
  return clean(wordOf(value) ?? 'unknown');
}

/** Adds the picture, and returns a description of it or of why it was left out. */
async function pictureOf(base64: string, images: Image[]): Promise<string> {
  if (images.length >= IMAGES_MAX)
    return `[a further picture is left out: a result has at most ${IMAGES_MAX}]`;
  if (base64.length > BASE64_MAX) return '[a picture is left out: it is too large]';
  const bytes = Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64');
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined) return '[a picture is left out: it is not a png, jpeg, gif or webp]';
  const fitted = await fitImage(bytes, media_type);
  if (!fitted.ok) return `[a picture is left out: ${fitted.error}]`;
  images.push(fitted.image);
  return `[picture ${images.length}: ${fitted.about}]`;
}
