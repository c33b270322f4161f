import { randomUUID } from 'node:crypto';
import { isoTime } from '../../documents/iso-time.ts';
import type { ExportedTree } from '../../documents/shapes/export-document.ts';
import { titleOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { ROUTES } from '../../serve/api/all-routes.ts';
import type { ApiSources } from '../../serve/api/route.ts';
import { TreeTimelines } from '../../serve/timeline/tree-timelines.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../setup/context.ts';

const PAGE = 1_000;

/** All documents of a tree, as the server would answer with them. */
export async function treeDocuments(context: Context, store: Store, root: Agent): Promise<ExportedTree> {
  const documents: Record<string, Record<string, unknown>> = {
    '/v1/session': { schema: 'coppice/session/v1', scope: 'read', version: context.version },
  };
  // What these routes read, and no more.
  const sources = { store, timelines: new TreeTimelines(store), unled: context } as unknown as ApiSources;
  const get = async (path: string, values: Readonly<Record<string, string>>, query: object = {}) => {
    const route = ROUTES.find((one) => one.method === 'GET' && one.path === path);
    if (route === undefined) throw new Error(`no route ${path}`);
    const request = { path: values, query: route.query.parse(query), body: {}, id: randomUUID() };
    const signal = new AbortController().signal;
    const answer = await route.handle(sources, { ...request, signal } as never);
    return { schema: route.answer, ...answer } as Record<string, unknown>;
  };
  const tree = `/v1/trees/${root.id}`;
  documents['/v1/approvals'] = await get('/v1/approvals', {}, { tree: root.id });
  documents[tree] = await get('/v1/trees/:tree', { tree: root.id });
  documents[`${tree}/timeline`] = await get('/v1/trees/:tree/timeline', { tree: root.id });
  const mail = await get('/v1/trees/:tree/mail', { tree: root.id }, { limit: PAGE });
  for (let { next } = mail; typeof next === 'string'; ) {
    const more = await get('/v1/trees/:tree/mail', { tree: root.id }, { limit: PAGE, after: next });
    (mail.mail as object[]).push(...(more.mail as object[]));
    next = more.next;
  }
  documents[`${tree}/mail`] = { ...mail, next: null };
  for (const { id, forked_from } of await store.agents({ root_id: root.id })) {
    const path = `/v1/agents/${id}`;
    documents[path] = await get('/v1/agents/:agent', { agent: id });
    documents[`${path}/requests`] = await get('/v1/agents/:agent/requests', { agent: id });
    const messages = await store.history(id, forked_from?.seq ?? 0);
    documents[`${path}/messages`] = { schema: 'coppice/messages/v1', agent_id: id, messages, next: null };
  }
  return { root_id: root.id, title: await titleOf(store, root), exported_at: isoTime(Date.now()), documents };
}
