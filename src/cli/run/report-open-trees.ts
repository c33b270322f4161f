import { spawn } from 'node:child_process';
import { isWorking } from '../../records/agent/state.ts';
import { count } from '../../render/amounts.ts';
import { sameLedgerFlags } from '../../settings/suggested-command.ts';
import type { Store } from '../../store/store.ts';
import type { AppEnd } from '../../tui/app-options.ts';
import type { Context } from '../setup/context.ts';
import { EXIT } from '../start/exit-code.ts';

/**
 * Prints for each tree that was open whether its agents go on, and how to come back. After a detach, working agents go on in another process, else
 * when the tree is opened next. Resolves to the exit code.
 */
export async function reportOpenTrees(
  context: Context,
  store: Store,
  { how, root_id, left }: AppEnd,
): Promise<number> {
  store.assertThere();
  if (root_id === null && left.length === 0) return EXIT.done;
  for (const id of [...left, ...(root_id === null ? [] : [root_id])]) {
    const named = `${id.slice(0, 8)}${sameLedgerFlags(context)}`;
    const living = await store.agents({ root_id: id, living: true });
    const goes_on = how === 'detach' && living.some((agent) => isWorking(agent.state.type));
    if (goes_on) continueDetached(context, id);
    const line = goes_on
      ? `its agents continue; look with coppice tree ${named}, come back with coppice --tree ${named}`
      : living.length > 0
        ? `come back with: coppice --tree ${named}`
        : `all its agents have ended; read it with: coppice --tree ${named}`;
    // The tokens and the cost on a line of their own: the commands can be copied to the end of theirs.
    const { tokens = 0, cost_usd = 0 } = (await store.tree(id)) ?? {};
    const cost = cost_usd > 0 ? `, $${cost_usd.toFixed(cost_usd < 0.1 ? 4 : 2)}` : '';
    if (tokens > 0) process.stdout.write(`used in all: ${count(tokens)} tokens${cost}\n`);
    process.stdout.write(`${line}\n`);
  }
  return how === 'hangup' ? 129 : EXIT.done;
}

/** Starts a process without a terminal that leads the tree until none of its agents works; approvals wait for an answer. */
function continueDetached(context: Context, root_id: string): void {
  const { config } = context.options;
  const args = [
    ...process.execArgv,
    process.argv[1] ?? '',
    'resume',
    root_id,
    '--ask',
    ...(config === undefined ? [] : ['--config', config]),
  ];
  // Not passed as an argument, because every user of the machine can read those and the URL may contain a password.
  const env = { ...process.env, DATABASE_URL: context.database, COPPICE_SERVER: undefined };
  const child = spawn(process.execPath, args, { detached: true, stdio: 'ignore', env });
  child.on('error', () => undefined);
  child.unref();
}
