import { sleep } from '../../processes/waiting.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { fit, type UiStyle } from '../../render/style.ts';
import { ledgerOrders } from '../../runtime/orders/ledger-orders.ts';
import { rulesFile } from '../../settings/folders.ts';
import { hintsOf } from '../../trees/rest.ts';
import { keyBindings } from '../../tui/keys/keys-config.ts';
import { overviewSource } from '../../tui/overview/overview-source.ts';
import { groupOf, type OverviewSource, PAGE } from '../../tui/overview/overview-state.ts';
import { overviewHead, treeSummary } from '../../tui/overview/overview-view.ts';
import { watchTrees } from '../../tui/overview/watch-screen.ts';
import { ui } from '../run/ui.ts';
import { type Context, withStore } from '../setup/context.ts';
import { opensScreen, styleOfUi } from '../window/window-terminal.ts';

/**
 * `coppice ps --watch`: shows all trees of the ledger. On a terminal, as in the terminal UI, which Enter opens; elsewhere, as lines that report
 * changes.
 */
export async function watch(
  context: Context,
  { all, tree }: { readonly all?: boolean; readonly tree?: string },
): Promise<number> {
  if (all === true || tree !== undefined)
    throw new CoppiceError('E_USAGE', '--watch shows all trees', { hint: 'Leave out --all and --tree' });
  if (context.json)
    throw new CoppiceError('E_USAGE', '--watch prints for people', {
      hint: 'coppice ps --json prints the agents once; GET /v1/events of a server tells all changes',
    });
  if (context.server !== null)
    throw new CoppiceError('E_USAGE', '--watch reads the database, not a server', {
      hint: `The dashboard shows all trees of a server: ${context.server.url}; coppice web makes the link there`,
    });
  const agent = await withStore(context, (store) => {
    const { answer } = ledgerOrders(store, { rules_file: rulesFile(context.env) });
    return watched(
      context,
      overviewSource({ store, unled: context, data_folder: context.data_folder }, answer),
    );
  });
  return agent === null ? 0 : ui(context, { tree: agent, limit: [], label: [] });
}

async function watched(context: Context, source: OverviewSource): Promise<string | null> {
  const style = styleOfUi(context, {});
  const drawn = process.stdin.isTTY === true && process.stdout.isTTY === true && !style.accessible;
  if (!drawn) {
    await watchLines(source, { ...context.out, accessible: false }, context.width);
    return null;
  }
  // Reports that nothing can be read before the screen is taken over.
  await source.list(PAGE);
  const bindings = keyBindings(context.loaded.configuration.keys);
  return watchTrees({ source, style, bindings, openScreen: opensScreen(context, style) });
}

const POLL_MS = 5_000;
/** Minimum time between two reads of the trees. */
const PAUSE_MS = 1_000;
/** Time without output after which a line shows that watching goes on. */
const HEARTBEAT_MS = 30_000;

/** Prints a line for each tree, then one whenever the state of a tree changes, until the process is told to stop. */
async function watchLines(source: OverviewSource, style: UiStyle, width: number): Promise<void> {
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
      if (performance.now() - told_at >= HEARTBEAT_MS) tell(overviewHead(known, style));
      await sleep(PAUSE_MS, left.signal);
      await hints.next();
    }
  } finally {
    process.off('SIGINT', leave);
    process.off('SIGTERM', leave);
    await hints.stop();
  }
}
