import { printJson } from '../agent-json.ts';
import { type Context, withStore } from '../context.ts';
import { runTable } from '../render/run-table.ts';
import { runJson } from '../run-json.ts';

/** `coppice subagent list`: runs that are queued or at work, oldest first. */
export function subagentList(context: Context): Promise<number> {
  return withStore(context, async (store) => {
    const runs = (await store.runs({ active: true })).toReversed();
    if (context.json) {
      printJson({ schema: 'coppice/subagent-runs/v1', runs: runs.map(runJson) });
      return 0;
    }
    if (runs.length === 0) {
      process.stdout.write('no runs at work; see all: coppice subagent history\n');
      return 0;
    }
    process.stdout.write(`${runTable(runs, context.width, Date.now(), context.out).join('\n')}\n`);
    const queued = runs.filter((run) => run.status === 'queued').length;
    const count = `${runs.length} run${runs.length === 1 ? '' : 's'}`;
    process.stdout.write(`${count}${queued === 0 ? '' : `, ${queued} queued`}\n`);
    return 0;
  });
}
