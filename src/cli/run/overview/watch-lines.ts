import { sleep } from '../../../processes/waiting.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { clean } from '../../../render/clean.ts';
import { fit, type UiStyle } from '../../../render/style.ts';
import { hintsOf } from '../../../trees/rest.ts';
import type { OverviewSource } from '../../../tui/overview/overview-state.ts';
import { groupOf, PAGE } from '../../../tui/overview/overview-state.ts';
import { overviewHead, treeSummary } from '../../../tui/overview/overview-view.ts';

const POLL_MS = 5_000;
/** Minimum time between two reads of the trees. */
const PAUSE_MS = 1_000;
/** Time without output after which a line shows that watching goes on. */
const HEARTBEAT_MS = 30_000;

/** Prints a line for each tree, then one whenever the state of a tree changes, until the process is told to stop. */
export async function watchLines(source: OverviewSource, style: UiStyle, width: number): Promise<void> {
  const { list, seen, listen } = source;
  const hints = await hintsOf(listen, POLL_MS);
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
    told_at = performance.now();
    process.stdout.write(`${fit(`${new Date().toTimeString().slice(0, 8)} ${text}`, width, style)}\n`);
  };
  let failed = '';
  try {
    let known = { trees: await list(PAGE), seen: seen.read() };
    for (;;) {
      for (const tree of known.trees.toReversed()) {
        const group = groupOf(tree, known);
        const state = `${group} ${tree.status} ${tree.asked_at}`;
        if (told.get(tree.root_id) === state) continue;
        told.set(tree.root_id, state);
        const [, summary] = treeSummary(tree, group, Date.now(), style);
        tell(`${tree.root_id.slice(0, 8)} ${clean(tree.title)}: ${summary}`);
      }
      if (performance.now() - told_at >= HEARTBEAT_MS) tell(failed || overviewHead(known, style));
      await sleep(PAUSE_MS, left.signal);
      await hints.next();
      if (left.signal.aborted) break;
      try {
        known = { trees: await list(PAGE), seen: seen.read() };
        if (failed !== '') tell(overviewHead(known, style));
        failed = '';
      } catch (error) {
        // The server may be restarting.
        if (!(error instanceof CoppiceError) || !error.retryable) throw error;
        if (failed === '') tell(error.message);
        failed = error.message;
      }
    }
  } finally {
    process.off('SIGINT', leave);
    process.off('SIGTERM', leave);
    await hints.stop();
  }
}
