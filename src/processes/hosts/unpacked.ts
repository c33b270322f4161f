import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createInflate, createUnzip, createZstdDecompress } from 'node:zlib';

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map(
  Object.entries({
    ...{ gzip: createUnzip, 'x-gzip': createUnzip, deflate: createInflate },
    ...{ br: createBrotliDecompress, zstd: createZstdDecompress },
  }),
);

function encodingOf({ headers }: IncomingMessage): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase();
}

/** The encoding of a body that nobody here can unpack; null if it can be read. */
export function foreignEncoding(answer: IncomingMessage): string | null {
  const encoding = encodingOf(answer);
  if (encoding === '' || encoding === 'identity' || UNPACKERS.has(encoding)) return null;
  return encoding.slice(0, 50);
}

/** The body as it was before it was packed; itself if it is not. Whoever destroys it ends the answer, too. */
export function unpacked(answer: IncomingMessage): Readable {
  const unpacker = UNPACKERS.get(encodingOf(answer))?.();
  // What goes wrong is the error of what is returned.
  return unpacker === undefined ? answer : pipeline(answer, unpacker, () => undefined);
}
