import { sleep } from '../../processes/waiting.ts';
import { clean } from '../../render/clean.ts';
import { fit, type UiStyle } from '../../render/style.ts';
import { ledgerHints } from '../../serve/answers/ledger-hints.ts';
import type { OverviewSource } from '../../tui/overview/overview-state.ts';
import { groupOf, PAGE } from '../../tui/overview/overview-state.ts';
import { overviewHead, treeSummary } from '../../tui/overview/overview-view.ts';

const POLL_MS = 5_000;
/** Between two looks at the ledger, at least. */
const PAUSE_MS = 1_000;
/** After this time without a line, one says that it still watches. */
const HEARTBEAT_MS = 30_000;

/** A line for each tree, then one whenever the state of a tree changes, until the process is told to stop. */
export async function watchLines(source: OverviewSource, style: UiStyle, width: number): Promise<void> {
  const { list, seen, store } = source;
  const hints = await ledgerHints(store, POLL_MS);
  const left = new AbortController();
  const leave = (): void => {
    left.abort();
    hints.wake();
  };
  process.once('SIGINT', leave);
  process.once('SIGTERM', leave);
  const told = new Map<string, string>();
  let told_at = Number.NEGATIVE_INFINITY;
  const tell = (text: string): void => {
    const now = new Date();
    told_at = now.getTime();
    process.stdout.write(`${fit(`${now.toTimeString().slice(0, 8)} ${text}`, width, style)}\n`);
  };
  try {
    while (!left.signal.aborted) {
      const known = { trees: await list(PAGE), seen: seen.read() };
      for (const tree of known.trees.toReversed()) {
        const group = groupOf(tree, known);
        const state = `${group} ${tree.status} ${tree.asked_at}`;
        if (told.get(tree.root_id) === state) continue;
        told.set(tree.root_id, state);
        const [, summary] = treeSummary(tree, group, Date.now(), style);
        tell(`${tree.root_id.slice(0, 8)} ${clean(tree.title)}: ${summary}`);
      }
      if (Date.now() - told_at >= HEARTBEAT_MS) tell(overviewHead(known, style));
      await sleep(PAUSE_MS, left.signal);
      await hints.next();
    }
  } finally {
    process.off('SIGINT', leave);
    process.off('SIGTERM', leave);
    await hints.stop();
  }
}
