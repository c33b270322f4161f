import { Command, InvalidArgumentError, Option } from 'commander';
import type { RunOptions } from './commands/run.ts';
import type { UiOptions } from './commands/ui.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit-code.ts';

type Work = (context: Context) => Promise<number>;

export interface Program {
  readonly command: Command;
  /** What the chosen command comes down to; null for help and the like. */
  readonly chosen: () => { readonly command: Command; readonly work: Work } | null;
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function seconds(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0)
    throw new InvalidArgumentError('a number of seconds, 0 or more');
  return number;
}

function whole(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw new InvalidArgumentError('a whole number, 0 or more');
  return number;
}

function countOf(value: string): number {
  if (whole(value) === 0) throw new InvalidArgumentError('a whole number, 1 or more');
  return whole(value);
}

/** The command line. Commands are loaded when they are chosen, so that start-up pays for nothing else. */
export function createProgram(version: string): Program {
  let chosen: ReturnType<Program['chosen']> = null;
  const command = new Command('coppice')
    .description('Agents that fork agents: durable, observable, simple.')
    .version(version, '-V, --version')
    .showHelpAfterError('(see coppice --help)')
    .showSuggestionAfterError()
    .exitOverride();
  const sub = (name: string, description: string): Command =>
    globals(command.command(name).description(description));
  const choose = (work: (...given: never[]) => Work) =>
    function (this: Command, ...given: unknown[]): void {
      // Commander passes the options and the command last.
      chosen = { command: this, work: work(...(given.slice(0, -1) as never[])) };
    };
  globals(command);

  running(
    sub('run', 'Give an agent a task; progress on stderr, its answer on stdout').argument(
      '[prompt]',
      'the task; - reads standard input',
    ),
  )
    .option(
      '--allow <rule>',
      'allow a tool or a pattern, e.g. bash or "bash:git *" (repeatable)',
      collect,
      [],
    )
    .option('--deny <rule>', 'deny a tool or a pattern (repeatable)', collect, [])
    .option('-y, --yes', 'allow everything that is not denied')
    .option('--ask', 'what needs approval waits for coppice approvals allow, instead of being denied')
    .option('--name <name>', 'name of the agent', 'main')
    .option(
      '--limit <key=value>',
      'depth, children, live, total, turns, run, tokens or cost (repeatable)',
      collect,
      [],
    )
    .addOption(new Option('--thinking <level>').choices(['off', 'low', 'medium', 'high']))
    .option('--toolset <name>', 'by which tools agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'set the agent up by a named profile; see coppice profiles')
    .action(
      choose(
        (prompt: string | undefined, options: RunOptions) => async (context) =>
          (await import('./commands/run.ts')).run(context, prompt, options),
      ),
    );

  sub('ui', 'The terminal UI; what coppice alone does on a terminal')
    .option('--tree <id>', 'open this tree again')
    .option('-c, --continue', 'open the newest tree again')
    .option('--allow <rule>', 'allow a tool or a pattern (repeatable)', collect, [])
    .option('--deny <rule>', 'deny a tool or a pattern (repeatable)', collect, [])
    .option('-y, --yes', 'allow everything that is not denied')
    .option('--accessible', 'words instead of signs, nothing that moves by itself')
    .option('--plain', 'ASCII, no colour')
    .option('--limit <key=value>', 'as for run (repeatable)', collect, [])
    .addOption(new Option('--thinking <level>').choices(['off', 'low', 'medium', 'high']))
    .option('--toolset <name>', 'by which tools agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'set the agent up by a named profile')
    .action(
      choose(
        (options: UiOptions) => async (context) => (await import('./commands/ui.ts')).ui(context, options),
      ),
    );

  sub('demo', 'Watch one agent fork three: scripted, offline, with real tools, in this folder')
    .option('--fast', 'no pauses')
    .action(
      choose(
        (options: { fast?: boolean }) => async (context) =>
          (await import('./commands/demo.ts')).demo(context, options),
      ),
    );

  running(
    sub('resume', 'Go on with a tree that nobody runs').argument(
      '[id]',
      'an agent of it; default: the newest with something to do',
    ),
  )
    .option('--retry', 'also restart agents whose turn failed')
    .option('--ask', 'what needs approval waits for coppice approvals allow, instead of being denied')
    .action(
      choose(
        (id: string | undefined, options: { retry?: boolean; ask?: boolean }) => async (context) =>
          (await import('./commands/resume.ts')).resume(context, id, options),
      ),
    );

  sub('ps', 'List agents')
    .option('-a, --all', 'dead ones too')
    .option('--tree <id>', 'only the tree of this agent')
    .action(
      choose(
        (options: { all?: boolean; tree?: string }) => async (context) =>
          (await import('./commands/ps.ts')).ps(context, options),
      ),
    );

  sub('tree', 'Show a tree of agents')
    .argument('[id]', 'an agent of it; default: the newest tree')
    .action(
      choose(
        (id: string | undefined) => async (context) => (await import('./commands/tree.ts')).tree(context, id),
      ),
    );

  sub('show', 'Show one agent')
    .argument('<id>', 'uuid, unique prefix, name or session key')
    .action(
      choose((id: string) => async (context) => (await import('./commands/show.ts')).show(context, id)),
    );

  sub('logs', 'Show what an agent said and did')
    .argument('<id>', 'uuid, unique prefix, name or session key')
    .option('-f, --follow', 'go on until the agent has ended')
    .option('--tail <n>', 'only the last n messages', whole)
    .action(
      choose(
        (id: string, options: { follow?: boolean; tail?: number }) => async (context) =>
          (await import('./commands/logs.ts')).logs(context, id, options),
      ),
    );

  sub('send', 'Write to an agent')
    .argument('<id>', 'uuid, unique prefix, name or session key')
    .argument('[text]', 'the message; - reads standard input')
    .action(
      choose(
        (id: string, text: string | undefined) => async (context) =>
          (await import('./commands/send.ts')).send(context, id, text),
      ),
    );

  sub('wait', 'Wait until agents are not at work any more')
    .argument('[ids...]', 'which; default: all of the newest tree')
    .option('--timeout <seconds>', 'at most so long', seconds, 3600)
    .action(
      choose(
        (ids: string[], options: { timeout: number }) => async (context) =>
          (await import('./commands/wait.ts')).wait(context, ids, options),
      ),
    );

  sub('kill', 'End an agent and all below it')
    .argument('<id>', 'uuid, unique prefix, name or session key')
    .option('-y, --yes', 'do not ask')
    .action(
      choose(
        (id: string, options: { yes?: boolean }) => async (context) =>
          (await import('./commands/kill.ts')).kill(context, id, options),
      ),
    );

  sub('profiles', 'List the kinds of agents there are: built in, yours, and of this folder').action(
    choose(() => async (context) => (await import('./commands/profiles.ts')).profiles(context)),
  );

  sub('trust', 'Accept the agent files of a folder, as they are now')
    .argument('[folder]', 'default: the folder to work in')
    .option('-y, --yes', 'do not ask')
    .option('--revoke', 'trust the folder no longer')
    .action(
      choose(
        (folder: string | undefined, options: { yes?: boolean; revoke?: boolean }) => async (context) =>
          (await import('./commands/trust.ts')).trust(context, folder, options),
      ),
    );

  const approvals = sub('approvals', 'Calls that wait for you: list, allow, deny');
  const approval = (name: string, description: string): Command =>
    globals(approvals.command(name).description(description));
  approval('list', 'What waits for an answer').action(
    choose(() => async (context) => (await import('./commands/approvals-list.ts')).approvalsList(context)),
  );
  approval('allow', 'Let this very call run')
    .argument('<id>', 'id or unique prefix')
    .option('--agent', 'and every later call of this tool by this agent')
    .action(
      choose(
        (id: string, options: { agent?: boolean }) => async (context) =>
          (await import('./commands/approvals-answer.ts')).approvalsAnswer(context, id, {
            verdict: 'allow',
            scope: options.agent === true ? 'agent' : 'once',
            note: '',
          }),
      ),
    );
  approval('deny', 'Refuse this call')
    .argument('<id>', 'id or unique prefix')
    .option('--say <text>', 'what the model is told', '')
    .action(
      choose(
        (id: string, options: { say: string }) => async (context) =>
          (await import('./commands/approvals-answer.ts')).approvalsAnswer(context, id, {
            verdict: 'deny',
            scope: 'once',
            note: options.say,
          }),
      ),
    );

  const subagent = sub('subagent', 'Background and delegated runs: list, show, cancel, history');
  const runs = (name: string, description: string): Command =>
    globals(subagent.command(name).description(description));
  runs('list', 'Runs that are queued or at work').action(
    choose(() => async (context) => (await import('./commands/subagent-list.ts')).subagentList(context)),
  );
  runs('show', 'Show one run')
    .argument('<run>', 'run id, unique prefix, or session key')
    .action(
      choose(
        (id: string) => async (context) =>
          (await import('./commands/subagent-show.ts')).subagentShow(context, id),
      ),
    );
  runs('cancel', 'Stop a run; whoever asked for it is told')
    .argument('<run>', 'run id, unique prefix, or session key')
    .action(
      choose(
        (id: string) => async (context) =>
          (await import('./commands/subagent-cancel.ts')).subagentCancel(context, id),
      ),
    );
  runs('history', 'All runs, newest first')
    .option('--limit <n>', 'at most so many', countOf, 20)
    .action(
      choose(
        (options: { limit: number }) => async (context) =>
          (await import('./commands/subagent-history.ts')).subagentHistory(context, options),
      ),
    );

  sub('doctor', 'Show what is configured and what is missing').action(
    choose(() => async (context) => (await import('./commands/doctor.ts')).doctor(context)),
  );

  return { command, chosen: () => chosen };
}

/** Flags of commands that run a tree. */
function running(command: Command): Command {
  return command
    .option('--events', 'every event as a JSON line on stdout')
    .option('--no-wait', "end with the agent's first answer, whatever else is still at work")
    .option('--timeout <seconds>', `stop after so long (exit ${EXIT.timeout}); nothing is lost`, seconds);
}

/** Flags that every command takes, before or after its name. */
function globals(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file')
    .option('--database <url>', 'sqlite:PATH or postgres://…')
    .option('--model <name>', 'provider/model')
    .option('--cwd <folder>', 'folder to work in')
    .option('--json', 'output for programs')
    .option('--no-color', 'plain text')
    .option('--debug', 'stack traces')
    .exitOverride();
}
