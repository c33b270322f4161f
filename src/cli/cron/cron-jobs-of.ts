import { CronJobs } from '../../cron/cron-jobs.ts';
import { localZone } from '../../cron/schedule/describe-schedule.ts';
import { clean } from '../../render/clean.ts';
import type { Store } from '../../store/store.ts';
import { canAsk } from '../setup/channels-config.ts';
import type { Context } from '../setup/context.ts';
import { targetProblem } from '../setup/open-channels.ts';

/** What a person at this machine can do with jobs. */
export function cronJobsOf(context: Context, store: Store): CronJobs {
  return new CronJobs({
    store,
    canAsk,
    default_tz: localZone(),
    note: (text) => void process.stderr.write(`${clean(text)}\n`),
    checkTarget: (target) => targetProblem(context.loaded.configuration.channels ?? {}, target),
  });
}
