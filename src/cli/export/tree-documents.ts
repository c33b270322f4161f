import { isoTime } from '../../documents/iso-time.ts';
import type { ExportedTree } from '../../documents/shapes/export-document.ts';
import type { Asked } from '../../serve/client/ledger-client.ts';
import type { Context } from '../setup/context.ts';

const PAGE = 1_000;

/** All documents of a tree, by the path of the API that answers with each. */
export async function treeDocuments(
  { version }: Context,
  asked: Asked,
  root_id: string,
): Promise<ExportedTree> {
  const tree = await asked.tree(root_id);
  const at = `/v1/trees/${root_id}`;
  const documents: Record<string, Record<string, unknown>> = {
    '/v1/session': { schema: 'coppice/session/v1', scope: 'read', version },
    '/v1/approvals': await asked.approvals({ tree: root_id }),
    [at]: tree,
    [`${at}/timeline`]: await asked.timeline(root_id),
    [`${at}/mail`]: await whole('mail', (after?: string) => asked.treeMail(root_id, { after, limit: PAGE })),
  };
  for (const { id } of tree.agents) {
    const path = `/v1/agents/${id}`;
    const agent = await asked.agent(id);
    documents[path] = agent;
    documents[`${path}/requests`] = await asked.requests(id);
    // Inherited ones stand in the conversation of the ancestor.
    const first = agent.forked_from?.seq ?? 0;
    documents[`${path}/messages`] = await whole('messages', (after?: number) =>
      asked.messages(id, { after: after ?? first, limit: PAGE }),
    );
  }
  return { root_id, title: tree.title, exported_at: isoTime(Date.now()), documents };
}

/** All pages as one. */
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
