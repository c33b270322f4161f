import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { runJson } from './run-json.ts';
import { runTable } from './run-table.ts';

/** `coppice subagent history`: all runs, newest first; rows stay when a session is deleted. */
export function subagentHistory(context: Context, options: { readonly limit: number }): Promise<number> {
  return withStore(context, async (store) => {
    const runs = await store.runs({ limit: options.limit });
    if (context.json) {
      printJson({ schema: 'coppice/subagent-runs/v1', runs: runs.map(runJson) });
      return 0;
    }
    if (runs.length === 0) {
      process.stdout.write('no runs yet\n');
      return 0;
    }
    process.stdout.write(`${runTable(runs, context.width, Date.now(), context.out).join('\n')}\n`);
    return 0;
  });
}
