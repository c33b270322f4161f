import type { Run } from '../../records/run/run.ts';
import type { Store } from '../../store/store.ts';
import { printJson } from '../agents/agent-json.ts';
import { type Context, withStore } from '../setup/context.ts';
import { ledRuns } from '../worker/leaders.ts';
import { runJson } from './run-json.ts';
import { runTable } from './run-table.ts';

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
    await tellLeft(store, runs);
    return 0;
  });
}

/** Runs stand still whose process is gone: that must not look like work. */
async function tellLeft(store: Store, runs: readonly Run[]): Promise<void> {
  const led = await ledRuns(store, runs);
  const left = runs.filter((run) => !led.has(run));
  if (left.length === 0) return;
  const which = left.length === runs.length ? 'no process' : `${left.length} of them: no process`;
  process.stdout.write(`${which} leads them now, nothing is lost; go on with:\n`);
  for (const id of new Set(left.map((run) => run.root_id)))
    process.stdout.write(`  coppice resume ${id.slice(0, 8)}\n`);
}
