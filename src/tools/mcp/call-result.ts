import type { CallToolResult } from '@modelcontextprotocol/client';
import { OutputCapture } from '../../processes/output/output-capture.ts';
import type { Image } from '../../records/conversation/message.ts';
import type { ToolContext, ToolResult } from '../../records/tool.ts';
import { clean } from '../../render/clean.ts';
import { imageTypeOf } from '../files/file-kind.ts';
import { fitImage } from '../files/fit-image.ts';
import { IMAGE_BYTES } from '../files/read-image.ts';

/** Maximum pictures of one result, and maximum characters of each. */
const IMAGES_MAX = 8;
const BASE64_MAX = Math.ceil((IMAGE_BYTES * 4) / 3);

type Block = CallToolResult['content'][number];

/** Converts an answer to what a model gets: its text, which is kept in a file if it is too long, and its pictures. */
export async function resultOf(
  answer: CallToolResult,
  context: Pick<ToolContext, 'spill_dir'>,
): Promise<ToolResult> {
  const images: Image[] = [];
  const pieces: string[] = [];
  const content = answer.content ?? [];
  for (const block of content) pieces.push(await pieceOf(block, images));
  if (content.length === 0 && answer.structuredContent !== undefined)
    pieces.push(JSON.stringify(answer.structuredContent, null, 1));
  const output = bounded(pieces, context.spill_dir);
  if (answer.isError === true) return { status: 'error', output: output === '' ? '[no message]' : output };
  const text = output === '' ? '[no output]' : output;
  return images.length === 0 ? { status: 'ok', output: text } : { status: 'ok', output: text, images };
}

function bounded(pieces: readonly string[], spill_dir: string): string {
  const capture = new OutputCapture(spill_dir, () => undefined);
  for (const [at, piece] of pieces.entries())
    capture.push(Buffer.from(at === 0 || piece === '' ? piece : `\n${piece}`));
  return capture.finish();
}

async function pieceOf(block: Block, images: Image[]): Promise<string> {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return pictureOf(block.data, images);
    case 'audio':
      return `[audio (${clean(block.mimeType)}) is left out: not supported]`;
    case 'resource_link':
      return `[${clean(block.name)}: ${clean(block.uri)}]`;
    case 'resource': {
      const { resource } = block;
      const head = `[${clean(resource.uri)}]`;
      if ('text' in resource) return `${head}\n${resource.text}`;
      const type = resource.mimeType ?? 'unknown';
      if (type.startsWith('image/')) return `${head} ${await pictureOf(resource.blob, images)}`;
      return `${head} [binary data (${clean(type)}), ${resource.blob.length} characters, is left out]`;
    }
    default:
      return `[content of an unknown kind is left out]`;
  }
}

/** Adds the picture, and returns a description of it or of why it was left out. */
async function pictureOf(base64: string, images: Image[]): Promise<string> {
  if (images.length >= IMAGES_MAX)
    return `[a further picture is left out: a result has at most ${IMAGES_MAX}]`;
  if (base64.length > BASE64_MAX) return '[a picture is left out: it is too large]';
  const bytes = Buffer.from(base64, 'base64');
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined) return '[a picture is left out: it is not a png, jpeg, gif or webp]';
  const fitted = await fitImage(bytes, media_type);
  if (!fitted.ok) return `[a picture is left out: ${fitted.error}]`;
  images.push(fitted.image);
  const scaled = fitted.scaled === null ? '' : `, ${fitted.scaled}`;
  return `[picture ${images.length}: ${media_type}, ${bytes.length} bytes${scaled}]`;
}
