import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AgentDocument, TreeRow } from '../../../documents/shapes/agent-parts.ts';
import type { Ask } from '../../../records/conversation/ask.ts';
import type { CoppiceClient } from '../../../serve/client/client.ts';
import type { Asked } from '../../../serve/client/ledger-client.ts';
import { ListedTrees } from '../../../serve/stream/listed-trees.ts';
import { sameLedgerFlags } from '../../../settings/suggested-command.ts';
import type { Store } from '../../../store/store.ts';
import type { OverviewSource, ReadPeek } from '../../../tui/overview/overview-state.ts';
import { SeenTrees } from '../../../tui/overview/seen-trees.ts';
import { isNotFound } from '../../agents/find-agent.ts';
import { askLedger } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';
import { ServerTrees } from './server-trees.ts';

/** Number of newest messages that are searched for the last text. */
const NEWEST = 30;

/** Source of the overview of all trees, read from the ledger; `answer` takes the answers that are given there. */
export function overviewSource(
  context: Context,
  store: Store,
  answer: OverviewSource['answer'],
): OverviewSource {
  const trees = new ListedTrees({ store, unled: context });
  const asked = askLedger(context, store);
  return {
    listen: (wake) => store.listen(randomUUID(), () => wake()),
    list: (limit) => trees.rows(limit),
    peek: (tree) => readPeek(asked, tree),
    answer,
    seen: seenTrees(context),
    elsewhere: null,
  };
}

/** Source of the overview read from a server, whose events report changes. */
export function serverSource(context: Context, client: CoppiceClient): OverviewSource {
  const trees = new ServerTrees(client);
  return {
    listen: (wake) => trees.listen(wake),
    list: (limit) => trees.rows(limit),
    peek: (tree) => readPeek(client, tree),
    answer: async (ask_id, { verdict, scope, shown, rule, note, values, dismissed }) => {
      const filled = values === undefined ? {} : { values: { ...values } as Record<string, string> };
      await (verdict === 'deny'
        ? client.deny(ask_id, { shown, note, dismissed })
        : client.allow(ask_id, { scope, shown, rule, ...filled }));
    },
    seen: seenTrees(context),
    elsewhere: (agent_id) =>
      `the server has it; read it: coppice logs -f ${agent_id.slice(0, 8)}${sameLedgerFlags(context)}`,
  };
}

/** Records that a person has read on a terminal what these agents, all of one tree, said last. */
export function markRead(context: Context, root_id: string, agents: readonly AgentDocument[]): void {
  const changes = agents.map(({ updated_at }) => Date.parse(updated_at));
  seenTrees(context).mark(root_id, Math.max(...changes));
}

function seenTrees({ data_folder }: Context): SeenTrees {
  return new SeenTrees(join(data_folder, 'seen-trees.json'), Date.now());
}

type Reads = Pick<Asked, 'agent' | 'approvals' | 'messages'>;

async function readPeek(asked: Reads, { root_id, error }: TreeRow): Promise<ReadPeek> {
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
