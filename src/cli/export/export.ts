import { writeFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { readPages } from '../../serve/http/pages.ts';
import { findRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask.ts';
import type { Context } from '../setup/context.ts';
import { treeDocuments } from './tree-documents.ts';
import { treePage } from './tree-page.ts';

export interface ExportOptions {
  readonly html?: boolean;
  readonly out?: string;
}

/** `coppice export ID`: the tree as one file. */
export function exportTree(
  context: Context,
  text: string | undefined,
  options: ExportOptions,
): Promise<number> {
  if (options.html !== true && !context.json)
    throw new CoppiceError('E_USAGE', 'export writes a page or documents', {
      hint: 'coppice export ID --html --out tree.html, or --json',
    });
  return ask(context, async (asked) => {
    const exported = await treeDocuments(context, asked, await findRoot(context, asked, text));
    if (context.json)
      return write(options, `${JSON.stringify({ schema: 'coppice/export/v1', ...exported })}\n`);
    const pages = readPages();
    if (pages === null)
      throw new CoppiceError('E_CONFIG', 'the dashboard was not built', { hint: 'npm run build:web' });
    return write(options, treePage(pages, exported));
  });
}

function write({ out }: ExportOptions, text: string): number {
  if (out === undefined) process.stdout.write(text);
  else
    try {
      writeFileSync(out, text, { mode: 0o600 });
    } catch (error) {
      throw new CoppiceError('E_USAGE', `--out ${out}: it cannot be written: ${(error as Error).message}`, {
        hint: 'Name a file in a folder that you may write to.',
        cause: error,
      });
    }
  return 0;
}
