// Proves that every image that is read is acceptable to every provider (type, sides, size), and that decompression bombs are refused.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { imageFault } from '../../src/records/conversation/image-bounds.ts';
import { fitImage } from '../../src/tools/files/fit-image.ts';

const blank = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } });

async function fitted(bytes: Buffer, media_type: string) {
  const result = await fitImage(bytes, media_type);
  assert.ok(result.ok, JSON.stringify(result));
  assert.equal(imageFault(result.image), null);
  const { width, height, format } = await sharp(Buffer.from(result.image.base64, 'base64')).metadata();
  assert.equal(result.image.media_type, `image/${format}`);
  return {
    width,
    height,
    format,
    same: result.image.base64 === bytes.toString('base64'),
    about: result.about,
  };
}

test('an image that fits is sent unchanged, byte for byte', async () => {
  const picture = blank(2_000, 10);
  for (const [bytes, type] of [
    [await picture.clone().png().toBuffer(), 'image/png'],
    [await picture.clone().jpeg().toBuffer(), 'image/jpeg'],
    [
      await picture.clone().withMetadata({ orientation: 6 }).jpeg({ progressive: true }).toBuffer(),
      'image/jpeg',
    ],
    [await picture.clone().webp().toBuffer(), 'image/webp'],
    [await picture.clone().webp({ lossless: true }).toBuffer(), 'image/webp'],
    [await picture.clone().withMetadata().webp().toBuffer(), 'image/webp'],
  ] as const)
    assert.equal((await fitted(bytes, type)).same, true, type);
});

test('wide pictures are scaled, upright ones stay upright', async () => {
  const wide = await fitted(await blank(9_000, 300).png().toBuffer(), 'image/png');
  assert.deepEqual([wide.width, wide.height, wide.format], [2_000, 67, 'png']);
  assert.match(wide.about, /^image\/png, \d+ bytes, 9000×300 shown as 2000×67 image\/png$/);
  const turned = await blank(3_000, 1_000).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const upright = await fitted(turned, 'image/jpeg');
  assert.deepEqual([upright.width, upright.height], [667, 2_000]);
});

test('a gif becomes its first frame, an animated webp too', async () => {
  const frames = await sharp(Buffer.concat([Buffer.alloc(300, 1), Buffer.alloc(300, 250)]), {
    raw: { width: 10, height: 20, channels: 3, pageHeight: 10 },
  })
    .gif()
    .toBuffer();
  const still = await fitted(frames, 'image/gif');
  assert.deepEqual([still.width, still.height, still.format], [10, 10, 'png']);
  const webp = await sharp(frames, { animated: true }).webp().toBuffer();
  assert.match(imageFault({ media_type: 'image/webp', base64: webp.toString('base64') }) ?? '', /animated/);
  assert.equal((await fitted(webp, 'image/webp')).same, false);
});

test('the limit of five megabytes counts base64', async () => {
  const side = 1_180;
  const noise = await sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .png()
    .toBuffer();
  assert.ok(noise.length < 5 * 1024 * 1024 && noise.toString('base64').length > 5 * 1024 * 1024);
  const smaller = await fitted(noise, 'image/png');
  assert.deepEqual([smaller.width, smaller.format], [side, 'jpeg']);
});

test('a small file with too many pixels is refused before it is decoded, a broken one whatever its header says', async () => {
  const bomb = await fitImage(png(40_000, 40_000), 'image/png');
  assert.ok(!bomb.ok);
  assert.match(bomb.error, /pixel limit/);
  const cut = await blank(500, 500).png().toBuffer();
  assert.equal((await fitImage(cut.subarray(0, cut.length - 200), 'image/png')).ok, false);
});

/** The header of an image with almost no data. */
function png(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(1_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
