import { describeSchedule, localZone, nextText } from '../../cron/schedule/describe-schedule.ts';
import { jobJson } from '../../documents/job-json.ts';
import { durationText } from '../../records/text/duration.ts';
import { clean } from '../../render/clean.ts';
import { sign } from '../../render/style.ts';
import { type Context, withStore } from '../setup/context.ts';
import { type Detail, detailLines, printJson, printLines, printSection } from '../setup/output.ts';
import { cronJobsOf } from './cron-jobs-of.ts';

/** `coppice cron show JOB`. */
export function cronShow(context: Context, text: string): Promise<number> {
  return withStore(context, async (store) => {
    const job = await cronJobsOf(context, store).find(text);
    if (context.json) {
      printJson({ schema: 'coppice/cron-job/v1', ...jobJson(job) });
      return 0;
    }
    const { config } = job;
    const none = sign(context.out, '–');
    const rows: readonly Detail[] = [
      ['job', `${clean(job.name)} (${job.id})`],
      ['schedule', describeSchedule(job.schedule, localZone())],
      ['next', nextText(job)],
      ['session', job.session === 'main' ? `main ${job.root_id ?? ''}`.trim() : `cron:${job.id}`],
      ['made by', clean(job.created_by)],
      ['model', `${config.model}, thinking ${config.thinking}`],
      ['profile', config.profile ?? none],
      ['toolsets', config.toolsets.join(', ') || none],
      ['folder', config.cwd],
      ['allow', config.permissions.cli.allow.join(', ') || none],
      ['deny', config.permissions.cli.deny.join(', ') || none],
      ['timeout', job.timeout_ms === null ? none : durationText(job.timeout_ms)],
      ['deliver', job.deliver.join(', ') || none],
      ['once', job.once ? 'yes' : 'no'],
      ['cleanup', job.cleanup],
      ['overlap', job.overlap],
    ];
    printLines(detailLines(rows, context.out));
    printSection(context, 'task', job.task);
    return 0;
  });
}
