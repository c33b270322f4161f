import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import type { ExportedTree } from '../../src/documents/shapes/tree-documents.ts';

/** Tree that is embedded in this page (`coppice export --html`); null if a server answers. */
export const EXPORTED = read();

function read(): ExportedTree | null {
  const text = document.getElementById('exported')?.textContent;
  return text === null || text === undefined ? null : (JSON.parse(text) as ExportedTree);
}

/** Returns what a server would answer to `GET`; undefined if it was not exported. */
export function exportedAnswer({ documents }: ExportedTree, href: string): object | undefined {
  const { pathname, searchParams } = new URL(href, 'http://exported');
  // Nothing has changed since.
  if (pathname.endsWith('/timeline') && searchParams.has('after'))
    return { ...documents[pathname], lanes: [] };
  const [, agent] = /^\/v1\/agents\/([^/]+)\/messages$/.exec(pathname) ?? [];
  if (agent === undefined) return documents[pathname];
  const after = Number(searchParams.get('after') ?? 0);
  const messages = conversation(documents, agent).slice(
    after,
    after + Number(searchParams.get('limit') ?? 200),
  );
  return { ...documents[pathname], messages };
}

/** Conversation of an agent; inherited messages are stored with the agent that it was forked from. */
function conversation(
  documents: ExportedTree['documents'],
  agent: string,
): DocumentOf<'coppice/messages/v1'>['messages'] {
  const page = documents[`/v1/agents/${agent}/messages`] as DocumentOf<'coppice/messages/v1'> | undefined;
  const { messages: own = [] } = page ?? {};
  const { forked_from = null } = (documents[`/v1/agents/${agent}`] ?? {}) as Partial<
    DocumentOf<'coppice/agent/v1'>
  >;
  if (forked_from === null) return own;
  return [...conversation(documents, forked_from.agent_id).slice(0, forked_from.seq), ...own];
}
