import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AgentDocument, TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { agentDocument, messagesDocument } from '../../trees/answers/agent-answers.ts';
import { ListedTrees } from '../../trees/answers/listed-trees.ts';
import { approvalsDocument } from '../../trees/answers/people-answers.ts';
import { isNotFound, type ReadSources } from '../../trees/find-agent.ts';
import type { OverviewSource, ReadPeek } from './overview-state.ts';
import { SeenTrees } from './seen-trees.ts';

/** Number of newest messages that are searched for the last text. */
const NEWEST = 30;

/** Source of the overview of all trees, read from the ledger; `answer` takes the answers that are given there. */
export function overviewSource(
  sources: ReadSources & { readonly data_folder: string },
  answer: OverviewSource['answer'],
): OverviewSource {
  const trees = new ListedTrees(sources);
  const reads: Reads = {
    approvals: (query) => approvalsDocument(sources, query),
    agent: (id) => agentDocument(sources, id),
    messages: (id, query) => messagesDocument(sources, id, query),
  };
  return {
    listen: (wake) => sources.store.listen(randomUUID(), () => wake()),
    list: (limit) => trees.rows(limit),
    peek: (tree) => readPeek(reads, tree),
    answer,
    seen: seenTrees(sources),
    elsewhere: null,
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

export function seenTrees({ data_folder }: DataFolder): SeenTrees {
  return new SeenTrees(join(data_folder, 'seen-trees.json'), Date.now());
}

/** The documents that a preview is made of, from the ledger or from a server. */
interface Reads {
  approvals(query: { readonly tree: string }): Promise<DocumentOf<'coppice/approvals/v1'>>;
  agent(id: string): Promise<DocumentOf<'coppice/agent/v1'>>;
  messages(id: string, query: { readonly tail: number }): Promise<DocumentOf<'coppice/messages/v1'>>;
}

export async function readPeek(asked: Reads, { root_id, error }: TreeRow): Promise<ReadPeek> {
  try {
    const { approvals } = await asked.approvals({ tree: root_id });
    return {
      asks: approvals.map(
        ({ asked_at, offered_rule: _offered, rules: _rules, lineage: _lineage, ...approval }): Ask => ({
          ...{ call_id: '', answered_by: null, answered_at: null, revoked_at: null },
          ...approval,
          asked_at: Date.parse(asked_at),
        }),
      ),
      lineages: new Map(approvals.map(({ id, lineage }) => [id, lineage])),
      said: error?.message ?? (await lastWords(asked, root_id)),
    };
  } catch (failure) {
    if (!isNotFound(failure)) throw failure;
    return { asks: [], lineages: new Map(), said: 'this tree was deleted' };
  }
}

/** Returns the newest text of the agent. */
async function lastWords(asked: Reads, id: string): Promise<string> {
  const { messages } = await asked.messages(id, { tail: NEWEST });
  for (const message of messages.toReversed()) {
    if (message.kind !== 'assistant') continue;
    const texts = message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const text = texts.join('\n\n').trim();
    if (text !== '') return text;
  }
  return (await asked.agent(id)).last_reply ?? '';
}
