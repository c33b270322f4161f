import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { markdownOf, quoted } from '../../documents/message-markdown.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import type { Calls } from '../../serve/client/client.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import { readPages } from '../../serve/http/pages.ts';
import type { ExportFormat } from '../../tui/app-options.ts';
import { findRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { exportedText } from './exported-tree.ts';
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

const PAGE = 500;

type Task = DocumentOf<'coppice/tasks/v1'>['tasks'][number];

/** Streams a tree as one Markdown text: the task list, if there is one, then a chapter for each agent with its own messages, oldest first. */
async function* treeMarkdown(asked: Calls, root_id: string): AsyncGenerator<string> {
  const { title, agents } = await asked.tree(root_id);
  yield `# ${clean(title)}\n`;
  const { tasks } = await asked.tasks(root_id);
  if (tasks.length > 0) yield `\n## Tasks\n\n${tasks.map(taskLine).join('\n')}\n`;
  for (const { id, name, status } of agents) {
    yield `\n## ${clean(name)} (${status})\n`;
    for (let after: number | null = 0; after !== null; ) {
      const page: DocumentOf<'coppice/messages/v1'> = await asked.messages(id, { after, limit: PAGE });
      // Inherited messages are in the chapter of the parent.
      for (const message of page.messages) if (message.agent_id === id) yield markdownOf(message);
      after = page.next;
    }
  }
}

/** Formats `2. done by kid, after 1: write the page`, and the result below it. The title comes last, because in front it could be a heading. */
function taskLine({ number, title, state, agent_name, depends_on, result }: Task): string {
  const by = agent_name === null ? '' : ` by ${clean(agent_name)}`;
  const after = depends_on.length === 0 ? '' : `, after ${depends_on.join(', ')}`;
  const came = result === null || result === '' ? '' : `\n${quoted(result).replaceAll(/^/gm, '   ')}`;
  return `${number}. ${state}${by}${after}: ${clean(title)}${came}`;
}
