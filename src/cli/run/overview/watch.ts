import { CoppiceError } from '../../../records/coppice-error.ts';
import { ledgerOrders } from '../../../runtime/orders/ledger-orders.ts';
import { rulesFile } from '../../../settings/folders.ts';
import { keyBindings } from '../../../tui/keys/keys-config.ts';
import { overviewSource } from '../../../tui/overview/overview-source.ts';
import { type OverviewSource, PAGE } from '../../../tui/overview/overview-state.ts';
import { watchTrees } from '../../../tui/overview/watch-screen.ts';
import { withServer } from '../../setup/ask-server.ts';
import { type Context, withStore } from '../../setup/context.ts';
import { ui } from '../ui.ts';
import { opensScreen, styleOfUi } from '../window/window-terminal.ts';
import { serverSource } from './server-trees.ts';
import { watchLines } from './watch-lines.ts';

/**
 * `coppice ps --watch`: shows all trees of the ledger. On a terminal, as in the terminal UI, which Enter opens (but not with a server); elsewhere, as
 * lines that report changes.
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
  const { server } = context;
  const agent =
    server === null
      ? await withStore(context, (store) => {
          const { answer } = ledgerOrders(store, { rules_file: rulesFile(context.env) });
          return watched(
            context,
            overviewSource({ store, unled: context, data_folder: context.data_folder }, answer),
          );
        })
      : await withServer(context, server, (client) => watched(context, serverSource(context, client)));
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
