import { type Command, Option } from 'commander';
import { collect, countOf, whole } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';
import type { CronAddOptions, CronUpdateOptions } from './cron-change.ts';
import type { CronRunOptions } from './cron-run.ts';

/** `coppice cron …` */
export function addCronCommands({ sub, choose }: ProgramPart): void {
  const cron = sub('cron', 'Tasks on a timer: add, list, show, update, run, runs, rm, enable, disable');
  const jobs = (name: string, description: string): Command => sub(name, description, cron);
  const one = (name: string, description: string): Command =>
    jobs(name, description).argument('<job>', 'name, id, unique prefix or session key');

  terms(jobs('add', 'Schedule a task').argument('<name>', 'what you call it'))
    .option('--tree <id>', 'with --session main: this conversation instead of the newest')
    .action(
      choose(
        (name: string, options: CronAddOptions) => async (context) =>
          (await import('./cron-change.ts')).cronAdd(context, name, options),
        { begins: true },
      ),
    );
  jobs('list', 'Scheduled tasks').action(
    choose(() => async (context) => (await import('./cron-list.ts')).cronList(context)),
  );
  one('show', 'Show one scheduled task').action(
    choose((text: string) => async (context) => (await import('./cron-show.ts')).cronShow(context, text)),
  );
  terms(one('update', 'Change a scheduled task; what is not named stays'))
    .option('--name <name>', 'a new name')
    .option('--no-once', 'not only once')
    .option('--no-deliver', 'deliver nowhere')
    .action(
      choose(
        (text: string, options: CronUpdateOptions) => async (context) =>
          (await import('./cron-change.ts')).cronUpdate(context, text, options),
      ),
    );
  one('run', 'Run a scheduled task now; progress on stderr, its answer on stdout')
    .option('--detach', 'leave it to coppice serve')
    .option('--ask', 'what needs approval waits for coppice approvals allow, instead of being denied')
    .option('--events', 'every event as a JSON line on stdout')
    .action(
      choose(
        (text: string, options: CronRunOptions) => async (context) =>
          (await import('./cron-run.ts')).cronRun(context, text, options),
      ),
    );
  one('runs', 'What became of its instants, newest first')
    .option('--limit <n>', 'at most so many', countOf, 20)
    .action(
      choose(
        (text: string, options: { limit: number }) => async (context) =>
          (await import('./cron-runs.ts')).cronRuns(context, text, options),
      ),
    );
  one('rm', 'Remove a scheduled task; its runs stay in the history').action(
    choose((text: string) => async (context) => (await import('./cron-change.ts')).cronRemove(context, text)),
  );
  for (const verb of ['enable', 'disable'] as const)
    one(verb, verb === 'enable' ? 'Let a scheduled task run again' : 'Let a scheduled task rest').action(
      choose(
        (text: string) => async (context) =>
          (await import('./cron-change.ts')).cronEnable(context, text, verb === 'enable'),
      ),
    );
}

/** What may be said of a job when it is made and when it is changed. */
function terms(command: Command): Command {
  return command
    .option('--cron <expression>', 'when: five fields, six with seconds first, or @daily; e.g. "0 9 * * 1-5"')
    .option('--tz <zone>', 'IANA time zone of --cron or --at; default: that of this machine')
    .option('--every <time>', 'when: an interval, e.g. 90s, 10m, 2h, 1d')
    .option('--at <time>', 'when, once: "2030-01-31 09:00", "09:00" or +5m')
    .option('--task <text>', 'what to do each time; - reads standard input')
    .addOption(
      new Option(
        '--session <kind>',
        'a fresh session each time, or an event in the main conversation',
      ).choices(['isolated', 'main']),
    )
    .addOption(new Option('--thinking <level>').choices(['off', 'low', 'medium', 'high']))
    .option('--timeout <seconds>', 'the longest a run may take; 0: no limit of its own', whole)
    .option('--profile <name>', 'set its agent up by a named profile')
    .option('--toolset <name>', 'by which tools its agents work together (repeatable)', collect)
    .option('--allow <rule>', 'allow its runs a tool or a pattern (repeatable)', collect)
    .option('--deny <rule>', 'deny its runs a tool or a pattern (repeatable)', collect)
    .option('-y, --yes', 'allow its runs everything that is not denied')
    .option(
      '--deliver <target>',
      'where results go: telegram:CHAT, webhook:NAME, file:PATH, stdout (repeatable)',
      collect,
    )
    .option('--once', 'disable it after it ran once')
    .addOption(
      new Option('--cleanup <what>', 'what becomes of the conversation of a run; disable: as --once').choices(
        ['delete', 'keep', 'disable'],
      ),
    )
    .addOption(
      new Option('--overlap <policy>', 'due while its run is at work: leave it out, or let one wait').choices(
        ['skip', 'queue'],
      ),
    );
}
