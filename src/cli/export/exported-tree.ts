import { isoTime } from '../../documents/iso-time.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import type { Context } from '../setup/context.ts';

const PAGE = 1_000;

type Documents = AsyncIterable<readonly [path: string, document: object]>;

/** Streams an `ExportedTree` as JSON: a tree may be larger than memory. */
export async function* exportedText(
  { version }: Context,
  asked: Asked,
  root_id: string,
  { schema }: { readonly schema?: string } = {},
): AsyncGenerator<string> {
  const tree = await asked.tree(root_id);
  const about = { schema, root_id, title: tree.title, exported_at: isoTime(Date.now()) };
  yield `${JSON.stringify(about).slice(0, -1)},"documents":{`;
  let comma = '';
  for await (const [path, document] of treeDocuments(version, asked, tree)) {
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify(document)}`;
    comma = ',';
  }
  yield '}}';
}

/** Yields all documents of a tree, by the path of the API that answers with each. */
async function* treeDocuments(
  version: string,
  asked: Asked,
  tree: Awaited<ReturnType<Asked['tree']>>,
): Documents {
  const { root_id } = tree;
  const at = `/v1/trees/${root_id}`;
  yield ['/v1/session', { schema: 'coppice/session/v1', scope: 'read', version }];
  yield ['/v1/approvals', await asked.approvals({ tree: root_id })];
  yield [at, tree];
  yield [`${at}/tasks`, await asked.tasks(root_id)];
  yield [`${at}/timeline`, await asked.timeline(root_id)];
  yield [
    `${at}/mail`,
    await whole('mail', (after?: string) => asked.treeMail(root_id, { after, limit: PAGE })),
  ];
  for (const { id } of tree.agents) {
    const path = `/v1/agents/${id}`;
    const agent = await asked.agent(id);
    yield [path, agent];
    yield [`${path}/requests`, await asked.requests(id)];
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
