import { hash } from 'node:crypto';
import { isoTime } from '../../documents/iso-time.ts';
import { markdownOf, quoted } from '../../documents/message-markdown.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import type { ExportFormat } from '../../tui/commands/command-arguments.ts';
import type { Calls } from '../client/client.ts';
import { type PageFile, readPages } from './built-pages.ts';

/** Streams the content of the exported file. */
export function exportPieces(
  version: string,
  asked: Calls,
  root_id: string,
  format: ExportFormat,
): AsyncIterable<string> {
  if (format === 'md') return treeMarkdown(asked, root_id);
  if (format === 'json') return exportedText(version, asked, root_id, 'coppice/export/v1');
  const pages = readPages();
  if (pages === null)
    throw new CoppiceError('E_CONFIG', 'the dashboard was not built', { hint: 'npm run build:web' });
  return treePage(pages, exportedText(version, asked, root_id));
}

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

const PAGE = 1_000;

type Documents = AsyncIterable<readonly [path: string, document: object]>;

/** Streams an `ExportedTree` as JSON: a tree may be larger than memory. */
async function* exportedText(
  version: string,
  asked: Calls,
  root_id: string,
  schema?: string,
): AsyncGenerator<string> {
  const tree = await asked.tree(root_id);
  const about = { schema, root_id, title: tree.title, exported_at: isoTime(Date.now()) };
  yield `${JSON.stringify(about).slice(0, -1)},"documents":{`;
  let comma = '';
  for await (const [path, document] of treeDocuments(version, asked, tree)) {
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify(document)}`;
    comma = ',';
  }
  yield schema === undefined ? '}}' : '}}\n';
}

/** Yields all documents of a tree, by the path of the API that answers with each. */
async function* treeDocuments(
  version: string,
  asked: Calls,
  tree: Awaited<ReturnType<Calls['tree']>>,
): Documents {
  const { root_id } = tree;
  const at = `/v1/trees/${root_id}`;
  yield ['/v1/session', { schema: 'coppice/session/v1', scope: 'read', version, models: [], profiles: [] }];
  yield [
    '/v1/approvals',
    await whole('approvals', (after?: string) => asked.approvals({ tree: root_id, after, limit: PAGE })),
  ];
  yield [at, tree];
  yield [`${at}/files`, await whole('files', (after?: string) => asked.files(root_id, { after }))];
  yield [`${at}/tasks`, await asked.tasks(root_id)];
  const timeline = await asked.timeline(root_id);
  yield [`${at}/timeline`, timeline];
  for (const { agent, workflow } of timeline.lanes) {
    if (workflow === null) continue;
    const id = String(timeline.ids[agent]);
    yield [`/v1/workflow-runs/${id}`, await asked.workflowRun(id)];
    yield [`/v1/workflow-runs/${id}/script`, await asked.workflowScript(id)];
  }
  yield [
    `${at}/mail`,
    await whole('mail', (after?: string) => asked.treeMail(root_id, { after, limit: PAGE })),
  ];
  for (const { id } of tree.agents) {
    const path = `/v1/agents/${id}`;
    const agent = await asked.agent(id);
    yield [path, agent];
    const requestsOf = (after?: number) => asked.requests(id, { after, limit: PAGE });
    yield [`${path}/requests`, await whole('requests', requestsOf)];
    // Inherited messages are in the conversation of the ancestor.
    const first = agent.forked_from?.seq ?? 0;
    const pageOf = (after?: number) => asked.messages(id, { after: after ?? first, limit: PAGE });
    yield [`${path}/messages`, await whole('messages', pageOf)];
  }
}

/** Reads all pages and joins them into one. */
async function whole<
  Key extends string,
  After,
  Page extends { readonly [K in Key]: readonly unknown[] } & { readonly next: After | null },
>(key: Key, pageOf: (after?: After) => Promise<Page>): Promise<Page> {
  const first = await pageOf();
  const rows: unknown[] = [...first[key]];
  for (let { next } = first; next !== null; ) {
    const page = await pageOf(next);
    rows.push(...page[key]);
    next = page.next;
  }
  return { ...first, [key]: rows, next: null };
}

/**
 * Streams the dashboard with the documents of one tree as one page. Its content security policy allows only its own script and style, by their
 * hashes. `exported`: an `ExportedTree` as JSON, in pieces.
 */
export async function* treePage(
  pages: ReadonlyMap<string, PageFile>,
  exported: AsyncIterable<string>,
): AsyncGenerator<string> {
  const scripts = ['text.js', 'whole.js'].map((name) => inScript(pages.get(name)?.body ?? ''));
  const style = (pages.get('style.css')?.body ?? '').replaceAll(/<(?=\/style)/gi, '\\3c ');
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.map(hashOf).join(' ')}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coppice</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="exported">`;
  for await (const piece of exported) yield piece.replaceAll('<', '\\u003c');
  yield `</script>
${scripts.map((script) => `<script type="module">${script}</script>`).join('\n')}
</body>
</html>
`;
}

/** Escapes what would end the script element, or begin a comment that hides its end. */
function inScript(text: string): string {
  return text.replaceAll(/<(?=\/script|script|!--)/gi, '\\x3c');
}

function hashOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
