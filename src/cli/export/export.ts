import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import { readPages } from '../../serve/http/pages.ts';
import type { ExportFormat } from '../../tui/app-options.ts';
import { findRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { exportedText } from './exported-tree.ts';
import { treeMarkdown } from './tree-markdown.ts';
import { treePage } from './tree-page.ts';

interface ExportOptions {
  readonly html?: boolean;
  readonly markdown?: boolean;
  readonly out?: string;
}

/** `coppice export ID`: writes the tree as one file. */
export function exportTree(
  context: Context,
  text: string | undefined,
  options: ExportOptions,
): Promise<number> {
  const format = context.json
    ? 'json'
    : options.html === true
      ? 'html'
      : options.markdown === true
        ? 'md'
        : null;
  if (format === null)
    throw new CoppiceError('E_USAGE', 'export writes a page, a text or documents', {
      hint: 'coppice export ID --html --out tree.html, --markdown, or --json',
    });
  return ask(context, async (asked) => {
    const root_id = await findRoot(context, asked, text);
    return write(options, exportPieces(context, asked, root_id, format));
  });
}

/** Streams the content of the exported file. */
export function exportPieces(
  context: Context,
  asked: Asked,
  root_id: string,
  format: ExportFormat,
): AsyncIterable<string> {
  if (format === 'md') return treeMarkdown(asked, root_id);
  if (format === 'json')
    return lineOf(exportedText(context, asked, root_id, { schema: 'coppice/export/v1' }));
  const pages = readPages();
  if (pages === null)
    throw new CoppiceError('E_CONFIG', 'the dashboard was not built', { hint: 'npm run build:web' });
  return treePage(pages, exportedText(context, asked, root_id));
}

async function* lineOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield* pieces;
  yield '\n';
}

async function write({ out }: ExportOptions, pieces: AsyncIterable<string>): Promise<number> {
  if (out === undefined) await pipeline(pieces, process.stdout, { end: false });
  else
    await writeExport(pieces, out, 'w', {
      problem: `--out ${out}: it cannot be written`,
      hint: 'Name a file in a folder that you may write to.',
    });
  return 0;
}

/** Writes an exported tree into a file that only its owner may read; `flags`: `wx` never writes over an existing file. */
export function writeExport(
  pieces: AsyncIterable<string>,
  file: string,
  flags: 'w' | 'wx',
  { problem, hint }: { readonly problem: string; readonly hint: string },
): Promise<void> {
  return pipeline(pieces, createWriteStream(file, { mode: 0o600, flags })).catch(
    (error: NodeJS.ErrnoException) => {
      // Other errors come from the ledger.
      if (error.syscall !== 'open' && error.syscall !== 'write') throw error;
      const why = error.code === 'EEXIST' ? 'it exists already' : error.message;
      throw new CoppiceError('E_USAGE', `${problem}: ${why}`, { hint, cause: error });
    },
  );
}
