import type { Agent } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { tellUndelivered } from '../../serve/leading/leaders.ts';
import { tellUnled } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import { followRun } from '../run/follow-run.ts';
import { composeTerms } from '../setup/compose-config.ts';
import { composeRuntime } from '../setup/compose-runtime.ts';
import { type Context, withStore } from '../setup/context.ts';
import { demoModels } from '../setup/demo-rules.ts';
import { printJson } from '../setup/output.ts';
import { cronJobsOf } from './cron-jobs-of.ts';

export interface CronRunOptions {
  readonly detach?: boolean;
  readonly ask?: boolean;
  readonly events?: boolean;
}

/** `coppice cron run JOB`: one more instant, now; this process leads the run unless it is left to a server. */
export async function cronRun(context: Context, text: string, options: CronRunOptions): Promise<number> {
  const fired = await withStore(context, async (store) => {
    const jobs = cronJobsOf(context, store);
    const job = await jobs.find(text);
    return { job, ...(await jobs.fire(job)) };
  });
  const { job, outcome, root_id } = fired;
  if (job.session === 'main' || root_id === null || options.detach === true) {
    if (context.json) printJson({ schema: 'coppice/cron-fired/v1', job: job.id, outcome, root_id });
    else process.stdout.write(`${outcomeText(job.session, outcome)} ${clean(job.name)}\n`);
    if (job.session !== 'main' && root_id !== null)
      await withStore(context, (store) => tellUnled(context, store, root_id));
    return 0;
  }
  const store = await context.openStore();
  const runtime = await composeRuntime(context, store, composeTerms(context), {
    extra: demoModels(process.stderr.isTTY),
    can_ask: options.ask === true,
  });
  const begin = async (): Promise<Agent> => (await runtime.resume(root_id)).root;
  return followRun(context, store, runtime, begin, {
    title: `coppice cron run  ·  ${clean(job.name)}`,
    events: options.events,
    ask: options.ask,
    after: () => tellDeliveries(store, root_id),
  });
}

function outcomeText(session: 'isolated' | 'main', outcome: 'fired' | 'queued'): string {
  if (outcome === 'queued') return 'queued behind the run that is at work:';
  return session === 'main' ? 'told the main session:' : 'started';
}

/** The run may be deleted with its conversation already; its row is found by its tree. */
async function tellDeliveries(store: Store, root_id: string): Promise<void> {
  const [run] = await store.runs({ root_id, limit: 1 });
  if (run === undefined)
    throw new CoppiceError('E_RUN_NOT_FOUND', `the run of ${root_id} is not in the history`);
  await tellUndelivered(store, await store.deliveries({ about: run.id }));
}
