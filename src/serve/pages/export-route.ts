import { ReadableStream as WebStream } from 'node:stream/web';
import { z } from 'zod';
import { oneRoot } from '../../trees/find-agent.ts';
import type { ApiSources, Terms } from '../api/route.ts';
import { ledgerClient } from '../client/ledger-client.ts';
import { exportPieces } from './tree-export.ts';

const TYPES = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
} as const;

const query = z.strictObject({
  format: z
    .enum(['html', 'json', 'md'])
    .default('json')
    .describe('`html`: a page that works offline; `md`: a text; the document is `json`'),
});

/** The one route that answers with a file. */
export const EXPORT_ROUTE = {
  method: 'GET',
  path: '/v1/trees/:tree/export',
  summary: 'A tree with all its conversations as one file, as `coppice export` writes it',
  scope: 'read',
  answer: 'coppice/export/v1',
  query,
  body: null,
} as const satisfies Terms & { readonly query: z.ZodObject; readonly body: null };

/** Its name in the OpenAPI document. */
export const EXPORT_CALL = { route: `${EXPORT_ROUTE.method} ${EXPORT_ROUTE.path}` };

interface ExportedFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array>;
}

/** Streams the file: a tree may be larger than memory. */
export async function exportFile(
  sources: ApiSources,
  version: string,
  tree: string,
  { format }: z.output<typeof query>,
): Promise<ExportedFile> {
  const { id } = await oneRoot(sources.store, tree);
  const pieces = exportPieces(
    version,
    ledgerClient(sources, async () => sources),
    id,
    format,
  );
  return {
    headers: {
      'Content-Type': TYPES[format],
      // A browser keeps the page, and never shows it as one of this server.
      'Content-Disposition': `attachment; filename="coppice-${id.slice(0, 8)}.${format}"`,
    },
    body: WebStream.from(bytesOf(pieces)) as ReadableStream<Uint8Array>,
  };
}

async function* bytesOf(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}
