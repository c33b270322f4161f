import { type Command, Option } from 'commander';
import { ASK, EVENTS, thinkingOption } from '../run/run-commands.ts';
import type { CommandBuilder } from '../start/command-builder.ts';
import { collect, rowCount, whole } from '../start/option-values.ts';

/** `coppice cron …` */
export function addCronCommands({ sub, deferred, imported }: CommandBuilder): void {
  const cron = sub('cron', 'Scheduled tasks: add, list, show, update, run, runs, rm, enable, disable');
  const ofJob = (name: string, description: string): Command =>
    sub(name, description, cron).argument('<job>', 'name, id, unique prefix or session key');

  jobOptions(sub('add', 'Schedule a task', cron).argument('<name>', 'name of the scheduled task'))
    .option('--tree <id>', 'with --session main: the tree of this agent instead of the newest')
    .action(imported(async () => (await import('./cron-change.ts')).cronAdd, { creates_ledger: true }));
  sub('list', 'List scheduled tasks', cron).action(
    imported(async () => (await import('./cron-jobs.ts')).cronList),
  );
  ofJob('show', 'Show one scheduled task').action(
    imported(async () => (await import('./cron-jobs.ts')).cronShow),
  );
  jobOptions(ofJob('update', 'Change a scheduled task; options left out keep their value'))
    .option('--name <name>', 'new name')
    .option('--no-once', 'keep it enabled after a run')
    .option('--no-deliver', 'deliver results nowhere')
    .action(imported(async () => (await import('./cron-change.ts')).cronUpdate));
  ofJob('run', 'Run a scheduled task now; progress on stderr, its answer on stdout')
    .option('--detach', 'leave the run to coppice serve')
    .option('--ask', ASK)
    .option('--events', EVENTS)
    .action(imported(async () => (await import('./cron-run.ts')).cronRun));
  ofJob('runs', 'List its instants and their outcomes, newest first')
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(imported(async () => (await import('./cron-jobs.ts')).cronRuns));
  ofJob('rm', 'Remove a scheduled task; its runs stay in the history').action(
    imported(async () => (await import('./cron-change.ts')).cronRemove),
  );
  for (const verb of ['enable', 'disable'] as const)
    ofJob(verb, `${verb === 'enable' ? 'Enable' : 'Disable'} a scheduled task`).action(
      deferred(async (context, job: string) =>
        (await import('./cron-change.ts')).cronEnable(context, job, verb === 'enable'),
      ),
    );
}

/** Adds the options that both `add` and `update` take. */
function jobOptions(command: Command): Command {
  return command
    .option('--cron <expression>', 'when: five fields, six with seconds first, or @daily; e.g. "0 9 * * 1-5"')
    .option('--tz <zone>', 'IANA time zone of --cron or --at; default: that of this machine')
    .option('--every <time>', 'when: an interval, e.g. 90s, 10m, 2h, 1d')
    .option('--at <time>', 'when, once: "2030-01-31 09:00", "09:00" or +5m')
    .option('--task <text>', 'the task; - reads standard input')
    .option('--workflow <workflow>', 'instead of a task: a workflow, by its name or the path of its script')
    .option('--args <json>', 'the value that its script sees as args, as JSON')
    .option('--calls <count>', 'maximum calls of agent() in a run; default 1000', whole)
    .addOption(
      new Option(
        '--session <kind>',
        'isolated: a new session for each run; main: an event in the main conversation',
      ).choices(['isolated', 'main']),
    )
    .addOption(thinkingOption())
    .option('--timeout <seconds>', 'maximum time of a run; 0: only the limit run of its tree', whole)
    .option('--profile <name>', 'configure its agent by a named profile')
    .option('--toolset <name>', 'toolset by which its agents work together (repeatable)', collect)
    .option('--allow <rule>', 'allow its runs a tool or a pattern (repeatable)', collect)
    .option('--deny <rule>', 'deny its runs a tool or a pattern (repeatable)', collect)
    .option('-y, --yes', 'allow its runs everything that is not denied')
    .option(
      '--deliver <target>',
      'where results go: telegram:CHAT, webhook:NAME, file:PATH, stdout (repeatable)',
      collect,
    )
    .option('--once', 'disable it after one run')
    .addOption(
      new Option(
        '--cleanup <what>',
        'what happens to the conversation of a run; disable: same as --once',
      ).choices(['delete', 'keep', 'disable']),
    )
    .addOption(
      new Option(
        '--overlap <policy>',
        'if it is due while its previous run is still working: skip, or queue one run',
      ).choices(['skip', 'queue']),
    );
}
