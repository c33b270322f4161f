import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { imageFault } from '../records/conversation/image-bounds.ts';
import type { Image } from '../records/conversation/message.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { imageTypeOf } from '../tools/files/file-kind.ts';
import { fitImage } from '../tools/files/fit-image.ts';
import type { Picture } from './coppice-options.ts';

/** Reads a program's pictures as every provider takes them. Rejects with `E_INVALID_ARGUMENT` for what is no picture. */
export function readPictures(pictures: readonly Picture[], cwd: string): Promise<Image[]> {
  return Promise.all(pictures.map((picture, place) => readPicture(picture, cwd, `images[${place}]`)));
}

async function readPicture(picture: Picture, cwd: string, place: string): Promise<Image> {
  const refused = (why: string) =>
    new CoppiceError('E_INVALID_ARGUMENT', `${place}: ${why}`, {
      hint: 'Give the path or the bytes of a PNG, JPEG, WebP or GIF',
    });
  const bytes =
    typeof picture === 'string'
      ? await readFile(resolve(cwd, picture)).catch((error: Error) => {
          throw refused(error.message);
        })
      : Buffer.from(picture);
  const media_type = imageTypeOf(bytes);
  if (media_type === undefined) throw refused('it is no picture');
  const image = { media_type, base64: bytes.toString('base64') };
  if (imageFault(image) === null) return image;
  const fitted = await fitImage(bytes, media_type);
  if (!fitted.ok) throw refused(fitted.error);
  return fitted.image;
}
