import type { Sharp } from 'sharp';
import { IMAGE_BASE64_MAX, IMAGE_SIDE_MAX, imageFault } from '../../records/conversation/image-bounds.ts';
import type { Image } from '../../records/conversation/message.ts';

/** Maximum pixels of an image that is decoded: bounds what a small file can expand to. */
const PIXELS_MAX = 64_000_000;
const SECONDS_MAX = 20;
/** Maximum sides in pixels, tried in turn until the file is small enough. */
const SIDES = [IMAGE_SIDE_MAX, 1_400, 900];

/** `about`: the file, and how it is shown if that differs, for the model. */
export type Fitted =
  | { readonly ok: true; readonly image: Image; readonly about: string }
  | { readonly ok: false; readonly error: string };

/**
 * Fits an image to what every provider accepts: unchanged if possible, otherwise scaled, a GIF's first frame as PNG. It is always decoded, in libvips' threads,
 * because a provider would refuse a broken one later, as part of a conversation. Never rejects.
 */
export async function fitImage(bytes: Buffer, media_type: string): Promise<Fitted> {
  const image = { media_type, base64: bytes.toString('base64') };
  const fault = imageFault(image);
  const about = `${media_type}, ${bytes.length} bytes`;
  try {
    // Loaded with the first image: sharp is a large, optional package.
    const { default: sharp } = await import('sharp');
    const open = () =>
      sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'error' }).timeout({ seconds: SECONDS_MAX });
    const { width, height } = await open().metadata();
    if (fault === null) {
      await open().stats();
      return { ok: true, image, about };
    }
    const plain = media_type === 'image/png' || media_type === 'image/gif';
    for (const side of SIDES) {
      const fitted = open()
        .autoOrient()
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });
      for (const [type, encoded] of encodings(fitted, plain)) {
        const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
        const made = { media_type: type, base64: data.toString('base64') };
        if (made.base64.length > IMAGE_BASE64_MAX) continue;
        const shown = `${width}×${height} shown as ${info.width}×${info.height} ${type}`;
        return { ok: true, image: made, about: `${about}, ${shown}` };
      }
    }
    return { ok: false, error: `${fault}, and it stays too large when it is scaled down` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND')
      return {
        ok: false,
        error: 'pictures need the package sharp: npm install sharp, where coppice is installed',
      };
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { ok: false, error: `it cannot be read as a picture: ${reason}` };
  }
}

/** Encodings in order of preference: drawings and screenshots stay sharp as PNG if that is small enough. */
function encodings(picture: Sharp, plain: boolean): readonly (readonly [string, Sharp])[] {
  const jpeg = picture.clone().flatten({ background: '#ffffff' }).jpeg({ quality: 85 });
  return [...(plain ? [['image/png', picture.clone().png()] as const] : []), ['image/jpeg', jpeg] as const];
}
