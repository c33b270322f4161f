import { CronJobs } from '../../cron/cron-jobs.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { canAsk } from '../deliveries/channels-config.ts';
import { targetProblem } from '../deliveries/target-problem.ts';
import type { Context } from '../setup/context.ts';
import { localZone } from './local-zone.ts';

/** What a person at this machine may do with jobs. */
export function cronJobsOf(context: Context, store: Store): CronJobs {
  return new CronJobs({
    store,
    canAsk,
    default_tz: localZone(),
    note: (text) => void process.stderr.write(`${clean(text)}\n`),
    checkTarget: (target) => targetProblem(context.loaded.configuration.channels ?? {}, target),
  });
}
