import { CoppiceError } from '../../records/coppice-error.ts';
import { ledgerOrders } from '../../serve/answers/ledger-orders.ts';
import { rulesFile } from '../../settings/folders.ts';
import type { Store } from '../../store/store.ts';
import { keyBindings } from '../../tui/keys/key-bindings.ts';
import { watchTrees } from '../../tui/overview/watch.ts';
import { type Context, withStore } from '../setup/context.ts';
import { overviewSource } from './overview-source.ts';
import { ui } from './ui.ts';
import { watchLines } from './watch-lines.ts';
import { opensScreen, styleOfUi } from './window/window-terminal.ts';

/** `coppice ps --watch`: all trees of the ledger, on a terminal as in the terminal UI, which Enter opens; elsewhere lines that tell what has changed. */
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
  const agent = await withStore(context, (store) => watched(context, store));
  return agent === null ? 0 : ui(context, { tree: agent, limit: [], label: [] });
}

async function watched(context: Context, store: Store): Promise<string | null> {
  const { answer } = ledgerOrders(store, { rules_file: rulesFile(context.env) });
  const source = overviewSource(context, store, answer);
  const style = styleOfUi(context, {});
  const drawn = process.stdin.isTTY === true && process.stdout.isTTY === true && !style.accessible;
  if (!drawn) {
    await watchLines(source, { ...context.out, accessible: false }, context.width);
    return null;
  }
  const bindings = keyBindings(context.loaded.configuration.keys);
  return watchTrees({ source, style, bindings, openScreen: opensScreen(context, style) });
}
