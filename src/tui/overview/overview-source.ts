import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { approvalsJson } from '../../documents/approval-json.ts';
import type { AgentDocument, TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { Store } from '../../store/store.ts';
import { ListedTrees } from '../../trees/answers/listed-trees.ts';
import type { ReadSources } from '../../trees/find-agent.ts';
import type { OverviewSource, ReadPeek } from './overview-state.ts';
import { SeenTrees } from './seen-trees.ts';

/** Number of newest messages that are searched for the last text. */
const NEWEST = 30;

/** Source of the overview of all trees, read from the ledger; `answer` takes the answers that are given there. */
export function overviewSource(
  sources: ReadSources & { readonly data_folder: string },
  answer: OverviewSource['answer'],
): OverviewSource {
  const { store } = sources;
  const trees = new ListedTrees(sources);
  return {
    listen: (wake) => store.listen(randomUUID(), () => wake()),
    list: (limit) => trees.rows(limit),
    peek: (tree) => readPeek(store, tree),
    answer,
    seen: seenTrees(sources),
  };
}

interface DataFolder {
  readonly data_folder: string;
}

/** Records that a person has read on a terminal what these agents, all of one tree, said last. */
export function markRead(context: DataFolder, root_id: string, agents: readonly AgentDocument[]): void {
  const changes = agents.map(({ updated_at }) => Date.parse(updated_at));
  seenTrees(context).mark(root_id, Math.max(...changes));
}

function seenTrees({ data_folder }: DataFolder): SeenTrees {
  return new SeenTrees(join(data_folder, 'seen-trees.json'), Date.now());
}

async function readPeek(store: Store, { root_id, error }: TreeRow): Promise<ReadPeek> {
  const root = await store.agent(root_id);
  if (root === null) return { asks: [], lineages: new Map(), said: 'this tree was deleted' };
  const asks = await store.asks({ root_id, open: true });
  const listed = await approvalsJson(store, asks);
  return {
    asks,
    lineages: new Map(listed.map(({ id, lineage }) => [id, lineage])),
    said: error?.message ?? (await lastWords(store, root)),
  };
}

/** Returns the newest text of the agent. */
async function lastWords(store: Store, { id, last_seq, reply }: Agent): Promise<string> {
  const messages = await store.history(id, Math.max(0, last_seq - NEWEST), NEWEST);
  for (const message of messages.toReversed()) {
    if (message.kind !== 'assistant') continue;
    const texts = message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const text = texts.join('\n\n').trim();
    if (text !== '') return text;
  }
  return reply ?? '';
}
