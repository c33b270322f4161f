import { orElse } from '../coppice-error.ts';
import type { Image } from './message.ts';

/**
 * Image limits that satisfy every provider (Anthropic: 2,000 pixels per side beyond 20 images, 5 MB of base64 each; Gemini: no GIF; OpenAI: no
 * animation). A history may go to any provider, because a child, or the agent after a change of model, may use another one.
 */
export const IMAGE_SIDE_MAX = 2_000;
export const IMAGE_BASE64_MAX = 5 * 1024 * 1024;

interface Seen {
  readonly media_type: string;
  readonly width: number;
  readonly height: number;
  readonly moves: boolean;
}

/** Returns why a provider would refuse the image, and with it the whole conversation; null if none would. Parses only the header. */
export function imageFault({ media_type, base64 }: Image): string | null {
  if (base64.length > IMAGE_BASE64_MAX)
    return `it has ${base64.length} bytes as base64; the maximum is ${IMAGE_BASE64_MAX}`;
  const seen = headerOf(Buffer.from(base64, 'base64'));
  if (seen === null || seen.media_type !== media_type) return 'it is not a readable PNG, JPEG or WebP';
  if (seen.width === 0 || seen.height === 0) return 'it is empty';
  if (seen.moves) return 'it is animated';
  if (Math.max(seen.width, seen.height) > IMAGE_SIDE_MAX)
    return `it has ${seen.width}×${seen.height} pixels; the maximum is ${IMAGE_SIDE_MAX} per side`;
  return null;
}

function headerOf(bytes: Buffer): Seen | null {
  // A truncated header cannot be read.
  return orElse(() => pngOf(bytes) ?? webpOf(bytes) ?? jpegOf(bytes), null);
}

function pngOf(bytes: Buffer): Seen | null {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return null;
  const first = bytes.toString('latin1', 0, 1_024);
  return {
    media_type: 'image/png',
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    moves: first.includes('acTL'),
  };
}

function webpOf(bytes: Buffer): Seen | null {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return null;
  const seen = (width: number, height: number, moves = false): Seen => ({
    media_type: 'image/webp',
    width,
    height,
    moves,
  });
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return seen(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return seen((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return seen(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1, (bytes.readUInt8(20) & 2) !== 0);
    default:
      return null;
  }
}

/** Skips metadata segments up to the first frame header. */
function jpegOf(bytes: Buffer): Seen | null {
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; ; at += 2 + bytes.readUInt16BE(at + 2)) {
    while (bytes.readUInt16BE(at) === 0xffff) at += 1;
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xffc0 || marker > 0xfffe || marker === 0xffda) return null;
    const is_frame = marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (is_frame)
      return {
        media_type: 'image/jpeg',
        width: bytes.readUInt16BE(at + 7),
        height: bytes.readUInt16BE(at + 5),
        moves: false,
      };
  }
}
