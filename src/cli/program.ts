import { Argument, Command, type CommanderError, Option } from 'commander';
import { meantPath } from '../processes/working-folder.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { nameHint } from '../render/nearest-name.ts';
import { addAgentsCommands } from './agents/agents-commands.ts';
import { addApprovalsCommands } from './approvals/approvals-commands.ts';
import type { Shell } from './completion/shell-scripts.ts';
import { addCronCommands } from './cron/cron-commands.ts';
import { addMcpCommands } from './mcp/mcp-commands.ts';
import { addRunCommands } from './run/run-commands.ts';
import { addServeCommands } from './serve/serve-commands.ts';
import type { WorkOptions } from './setup/context.ts';
import type { CommandBuilder, Work } from './start/command-builder.ts';
import { EVERYWHERE, groupCommands, layHelp, pathOf } from './start/help-layout.ts';
import { rowCount, timeSpan } from './start/option-values.ts';
import { addWorkflowCommands } from './workflow/workflow-commands.ts';

export interface Program {
  readonly command: Command;
  /** Returns the work of the chosen command; null for help and the like. */
  readonly chosen: () => {
    readonly command: Command;
    readonly work: Work;
    readonly options: WorkOptions;
  } | null;
}

/** The command line: every command with its options, in the order of the help. */
export function createProgram(version: string): Program {
  let chosen: ReturnType<Program['chosen']> = null;
  const command = globals(
    new Command('coppice')
      .description('Agents that fork agents: durable, observable, simple.')
      .version(version, '-V, --version')
      // `reportError` prints a usage error like every other error.
      .configureOutput({ outputError: () => undefined })
      .showSuggestionAfterError(),
  );
  layHelp(command);
  const builder: CommandBuilder = {
    sub: (name, description, parent = command) => globals(parent.command(name).description(description)),
    deferred: (work, options = {}) =>
      function (this: Command, ...given: unknown[]): void {
        // Commander passes the command last.
        const args = given.slice(0, -1) as never[];
        chosen = { command: this, work: (context) => work(context, ...args), options };
      },
    imported: (load, options) =>
      builder.deferred(async (context, ...given) => (await load())(context, ...given), options),
  };
  addRunCommands(builder);
  addAgentsCommands(builder, async (...given) => (await import('./ps-watch/watch.ts')).watch(...given));
  addProfilesCommands(builder);
  addApprovalsCommands(builder);
  addSubagentCommands(builder);
  addCronCommands(builder);
  addDeliveriesCommands(builder);
  addServeCommands(builder);
  addWorkflowCommands(builder);
  addExportCommand(builder);
  addCaseCommands(builder);
  addGcCommand(builder);
  addMcpCommands(builder);
  builder
    .sub('doctor', 'Check what is configured and what is missing')
    .action(builder.imported(async () => (await import('./doctor/doctor.ts')).doctor, { local: true }));
  addCompletionCommand(builder);
  addHelpCommand(command);
  groupCommands(command);
  return { command, chosen: () => chosen };
}

export const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

function addCompletionCommand({ sub }: CommandBuilder): void {
  sub('completion', 'Print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    // Not deferred: shells run this as they start, so a broken configuration must not get in the way.
    .action(async (shell: Shell) => {
      process.stdout.write((await import('./completion/shell-scripts.ts')).SHELL_SCRIPTS[shell]);
    });
}

/** Replaces Commander's own help command, which takes one name only: `help cron add` would show the help of `cron`. */
function addHelpCommand(program: Command): void {
  program
    .command('help')
    .argument('[command...]', 'its name, e.g. cron add')
    .description('Show the help of a command')
    .action((names: readonly string[]) => {
      const found = names.reduce((at, name) => {
        const known = at.commands.map((one) => one.name());
        const below = at.commands[known.indexOf(name)];
        return below ?? at.error(`unknown command '${name}'\n${nameHint(name, known, 'Commands')}`);
      }, program);
      found.help();
    });
}

/** Flags that every command takes, before or after its name. */
function globals(command: Command): Command {
  return command
    .optionsGroup(EVERYWHERE)
    .option('--config <file>', 'configuration file')
    .option('--database <url>', 'sqlite:PATH or postgres://…')
    .option('--server <url>', 'ask this server instead of the database')
    .option('--model <name>', 'provider/model')
    .option('--cwd <folder>', 'working folder', meantPath)
    .option('--json', 'JSON output for programs')
    .option('--no-color', 'no colours')
    .option('--debug', 'print stack traces')
    .optionsGroup('Options:')
    .exitOverride((error) => {
      // For a command group without a subcommand, its help, which is printed already, is enough for people.
      const helped = error.code === 'commander.help' && command.optsWithGlobals().json !== true;
      throw error.exitCode === 0 || helped ? error : usageError(command, error);
    });
}

/** What does here what options and commands of other programs do; of options, those that the command has. */
const CALLED_HERE: readonly (readonly [foreign: RegExp, here: string])[] = [
  [/^--?(p|print|prompt|message|task)$/, 'coppice run "TASK"'],
  [/^--?(c|continue|resume)$/, 'coppice resume'],
  [/^--?(port|host|bind|address)$/, '--listen HOST:PORT'],
  [/^--?(format|output|output-format|o)$/, '--json'],
  [/^--?(force|f|yolo|full-auto|auto-approve|dangerously-skip-permissions)$/, '--yes'],
  [/^--?(allowed-?tools|tools)$/i, '--allow "RULE"'],
  [/^--?(max-turns|max-steps|max-cost|max-budget-usd|budget)$/, '--limit turns=N, --limit cost=USD'],
  [/^--?(verbose|v)$/, '--debug'],
  [/^(stop|cancel|abort|rm|delete)$/, 'coppice kill ID'],
  [/^(list|ls|agents|sessions|status|top)$/, 'coppice ps'],
  [/^(start|exec|ask|new|fork|task)$/, 'coppice run "TASK"'],
  [/^(attach|open|chat|tui)$/, 'coppice ui'],
  [/^(continue)$/, 'coppice resume'],
  [/^(server|daemon|dashboard)$/, 'coppice serve'],
  [/^(login|auth|init|config|configure)$/, 'coppice setup'],
  [/^(log|history|transcript|events)$/, 'coppice logs ID'],
  [/^(message|tell|say)$/, 'coppice send ID TEXT'],
];

function calledHere(command: Command, what: string): string | undefined {
  const [, unknown = ''] = /^unknown (?:option|command) '([^']*)'/.exec(what) ?? [];
  const has = (here: string) => {
    const [, long] = /^(--[a-z]+)/.exec(here) ?? [];
    return long === undefined || command.options.some((one) => one.long === long);
  };
  const is_top = unknown.startsWith('-') || command.parent === null;
  const found = CALLED_HERE.find(([foreign, here]) => is_top && foreign.test(unknown) && has(here));
  return found && `Here that is ${found[1]}`;
}

/** Converts what Commander found wrong with the command line of `command` to the error that people and programs see. */
export function usageError(command: Command, { code, message }: CommanderError): CoppiceError {
  const path = pathOf(command);
  const below = command.commands.map((one) => one.name());
  const [unknown = ''] = command.args;
  // Commander has no message for a command group without a subcommand, and takes what is no subcommand of a group with an action for an argument.
  const text =
    code === 'commander.help'
      ? `${path} needs a command`
      : code === 'commander.excessArguments' && below.length > 0
        ? `unknown command '${unknown}'\n${nameHint(unknown, below, 'Commands')}`
        : message.replace(/^error: /, '');
  const [what = '', ...suggestions] = text.split('\n');
  const here = calledHere(command, what);
  const told = here === undefined ? suggestions.map((line) => line.replace(/^\((.*)\)$/, '$1')) : [here];
  return new CoppiceError('E_USAGE', what, { hint: [...told, `See: ${path} --help`].join('\n') });
}

/** `coppice export` */
function addExportCommand({ sub, imported }: CommandBuilder): void {
  sub('export', 'Write a tree, with all that its agents said, used and wrote, into one file')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .option('--html', 'a page that any browser opens, without a server; with --json: the documents')
    .option('--markdown', 'a Markdown transcript: messages, calls and results, with a chapter for each agent')
    .option('--out <file>', 'output file; default: standard output', meantPath)
    .action(imported(async () => (await import('./export/export.ts')).exportTree));
}

/** `coppice record` and `coppice replay` */
function addCaseCommands({ sub, imported }: CommandBuilder): void {
  sub('record', 'Write a run that is over as a case: what its models answered and its tools returned')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .option('--out <file>', 'output file; default: standard output', meantPath)
    .action(imported(async () => (await import('./export/cases/record.ts')).record, { local: true }));
  sub('replay', "Run cases against today's prompts, tools, profiles and version, without a provider")
    .argument('<file...>', 'cases that coppice record wrote')
    .option('--update', 'write what is sent today into cases that differ')
    .action(imported(async () => (await import('./export/cases/replay.ts')).replay, { local: true }));
}

/** Default of `--older-than`. */
const DEFAULT_AGE = '30d';

/** `coppice gc` */
function addGcCommand({ sub, imported }: CommandBuilder): void {
  sub('gc', 'Remove old data: ended conversations, sent deliveries, past instants of schedules, worktrees')
    .addOption(
      new Option('--older-than <time>', 'time since the last change, e.g. 12h, 30d')
        .argParser(timeSpan)
        .default(timeSpan(DEFAULT_AGE), `"${DEFAULT_AGE}"`),
    )
    .option('--idle', 'also idle conversations')
    .option('--runs', 'also rows of the run history')
    .option('--dry-run', 'only print what would be removed')
    .option(
      '--archive <file>',
      'save what is removed to a new file of JSON lines; NAME.gz: compressed',
      meantPath,
    )
    .action(imported(async () => (await import('./gc/gc.ts')).gc, { local: true }));
}

/** `coppice profiles` and `coppice trust` */
function addProfilesCommands({ sub, imported }: CommandBuilder): void {
  sub('profiles', 'List profiles: built in, your own, and those of this folder').action(
    imported(async () => (await import('./profiles/list-profiles.ts')).profiles, { local: true }),
  );
  sub('trust', 'Accept the agent files, instructions and skills of a folder, as they are now')
    .argument('[folder]', 'default: the working folder')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--revoke', 'stop trusting the folder')
    .action(imported(async () => (await import('./profiles/change-trust.ts')).trust, { local: true }));
}

/** `coppice deliveries …` */
function addDeliveriesCommands({ sub, imported }: CommandBuilder): void {
  const deliveries = sub('deliveries', 'Messages sent through channels: list, retry');
  sub('list', 'List deliveries, newest first', deliveries)
    .addOption(
      new Option('--status <status>', 'only those with this status').choices([
        'pending',
        'delivered',
        'failed',
      ]),
    )
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(imported(async () => (await import('./serve/deliveries.ts')).deliveriesList));
  sub('retry', 'Retry deliveries now', deliveries)
    .argument('[deliveries...]', 'id, unique prefix, or the id of a run; default: all failed ones')
    .action(imported(async () => (await import('./serve/deliveries.ts')).deliveriesRetry));
}

const RUN = 'run id, unique prefix, or session key';

/** `coppice subagent …` */
function addSubagentCommands({ sub, imported }: CommandBuilder): void {
  const subagent = sub('subagent', 'Background and delegated runs: list, show, cancel, history');
  sub('list', 'List runs that are queued or running', subagent).action(
    imported(async () => (await import('./subagent/subagent-runs.ts')).subagentList),
  );
  sub('show', 'Show one run', subagent)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./subagent/subagent-runs.ts')).subagentShow));
  sub('cancel', 'Stop a run and notify its requester', subagent)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./subagent/subagent-runs.ts')).subagentCancel));
  sub('history', 'List all runs, newest first', subagent)
    .option('--limit <n>', 'maximum rows', rowCount, 20)
    .action(imported(async () => (await import('./subagent/subagent-runs.ts')).subagentHistory));
}
