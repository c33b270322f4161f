import { randomUUID } from 'node:crypto';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import {
  type Attachment,
  type ComposedText,
  withAttachments,
} from '../../records/conversation/attached-text.ts';
import { imageFault } from '../../records/conversation/image-bounds.ts';
import type { Image } from '../../records/conversation/message.ts';
import { orElse } from '../../records/coppice-error.ts';
import { delimiterOf } from '../../records/text/untrusted-text.ts';
import { clean } from '../../render/clean.ts';
import { fitImage } from '../../tools/files/fit-image.ts';
import { invalidParams } from '../protocol-error.ts';

const IMAGES_MAX = 20;

/**
 * Converts a prompt to a message of the person: its text, with links in place, followed by embedded texts as attachments, and its pictures. Rejects with an
 * error of the protocol if any block is not supported.
 */
export async function promptContent(blocks: readonly ContentBlock[]): Promise<ComposedText> {
  const said: string[] = [];
  const attachments: Attachment[] = [];
  const images: Image[] = [];
  for (const [index, block] of blocks.entries())
    switch (block.type) {
      case 'text':
        said.push(block.text);
        break;
      case 'resource_link':
        said.push(linkText(block));
        break;
      case 'image':
        images.push(await imageOf(block, index));
        break;
      case 'resource': {
        const { resource } = block;
        if ('text' in resource) attachments.push({ label: placeOf(resource.uri), text: resource.text });
        else if (resource.mimeType?.startsWith('image/') === true)
          images.push(await imageOf({ data: resource.blob, mimeType: resource.mimeType }, index));
        else
          throw invalidParams(
            `prompt[${index}]: ${resource.mimeType ?? 'binary content'} cannot be read; link to it instead`,
          );
        break;
      }
      default:
        throw invalidParams(`prompt[${index}]: ${block.type} is not supported; see promptCapabilities`);
    }
  if (images.length > IMAGES_MAX)
    throw invalidParams(`prompt: ${images.length} pictures; the maximum is ${IMAGES_MAX}`);
  const typed = said.join('').trim() === '' ? nothingSaid(attachments.length, images.length) : said.join('');
  return withAttachments(typed, attachments, delimiterOf(randomUUID()), images);
}

/** Stands in for the text of a prompt that has only attachments. Throws if it has none either. */
function nothingSaid(attachments: number, images: number): string {
  if (attachments + images === 0) throw invalidParams('prompt: it is empty');
  return images > 0 ? 'Look at this.' : 'Read this.';
}

/** A file is named by its path, which tools accept; anything else by its address. */
function linkText({ uri, name }: ContentBlock & { readonly type: 'resource_link' }): string {
  const place = placeOf(uri);
  return name === '' || place.endsWith(name) ? place : `${clean(name)} (${place})`;
}

function placeOf(uri: string): string {
  if (!uri.startsWith('file://')) return clean(uri);
  return orElse(() => {
    const { pathname, hash } = new URL(uri);
    const line = /^#L(\d+)/.exec(hash)?.[1];
    return clean(`${decodeURIComponent(pathname)}${line === undefined ? '' : `:${line}`}`);
  }, clean(uri));
}

async function imageOf(
  { data, mimeType }: { readonly data: string; readonly mimeType: string },
  index: number,
): Promise<Image> {
  const image = { media_type: mimeType, base64: data };
  if (imageFault(image) === null) return image;
  const fitted = await fitImage(Buffer.from(data, 'base64'), mimeType);
  if (!fitted.ok) throw invalidParams(`prompt[${index}]: ${fitted.error}`);
  return fitted.image;
}
