import { join } from 'node:path';
import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import { ListedTrees } from '../../serve/stream/listed-trees.ts';
import type { Store } from '../../store/store.ts';
import type { OverviewSource } from '../../tui/overview/overview-state.ts';
import { SeenTrees } from '../../tui/overview/seen-trees.ts';
import type { Context } from '../setup/context.ts';

/** What the overview of all trees shows, and who takes its answers. */
export function overviewSource(
  context: Context,
  store: Store,
  answer: OverviewSource['answer'],
): OverviewSource {
  const trees = new ListedTrees({ store, unled: context });
  return {
    store,
    list: (limit) => trees.rows(limit),
    answer,
    seen: seenTrees(context),
  };
}

/** Somebody has read on a terminal what these agents, all of one tree, said last. */
export function markRead(context: Context, root_id: string, agents: readonly AgentDocument[]): void {
  const changes = agents.map(({ updated_at }) => Date.parse(updated_at));
  seenTrees(context).mark(root_id, Math.max(...changes));
}

function seenTrees({ data_folder }: Context): SeenTrees {
  return new SeenTrees(join(data_folder, 'seen-trees.json'), Date.now());
}
