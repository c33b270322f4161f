import { join } from 'node:path';
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
    seen: new SeenTrees(join(context.data_folder, 'seen-trees.json'), Date.now()),
  };
}
