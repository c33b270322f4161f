import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CoppiceError } from '../../records/coppice-error.ts';
import { exportPieces } from '../../serve/pages/tree-export.ts';
import { findRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';

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
    await writeOut(options.out, exportPieces(context.version, asked, root_id, format));
    return 0;
  });
}

/** Writes to the file of `--out`, else to standard output. */
export async function writeOut(out: string | undefined, pieces: Pieces): Promise<void> {
  if (out === undefined) await pipeline(pieces, process.stdout, { end: false });
  else
    await writeExport(pieces, out, 'w', {
      problem: `--out ${out}: it cannot be written`,
      hint: 'Name a file in a folder that you may write to.',
    });
}

type Pieces = Iterable<string> | AsyncIterable<string>;

/** Writes an exported tree into a file that only its owner may read; `flags`: `wx` never writes over an existing file. */
export function writeExport(
  pieces: Pieces,
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
