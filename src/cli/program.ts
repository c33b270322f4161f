import { Argument, Command } from 'commander';
import { addApprovalsCommands } from './approvals/approvals-commands.ts';
import { SHELLS, type Shell } from './completion/shell.ts';
import { addCronCommands } from './cron/cron-commands.ts';
import { addDeliveriesCommands } from './deliveries/deliveries-commands.ts';
import { addGcCommand } from './gc/gc-command.ts';
import { seconds, whole } from './option-values.ts';
import type { ProgramPart, Work, WorkTerms } from './program-part.ts';
import { addRunningCommands } from './run/running-commands.ts';
import { addSubagentCommands } from './runs/subagent-commands.ts';
import { addServeCommand } from './serve/serve-command.ts';
import { addWorkerCommands } from './worker/worker-commands.ts';

export interface Program {
  readonly command: Command;
  /** What the chosen command comes down to; null for help and the like. */
  readonly chosen: () => { readonly command: Command; readonly work: Work; readonly terms: WorkTerms } | null;
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
  const sub: ProgramPart['sub'] = (name, description, parent = command) =>
    globals(parent.command(name).description(description));
  const choose: ProgramPart['choose'] = (work, terms = {}) =>
    function (this: Command, ...given: unknown[]): void {
      // Commander passes the options and the command last.
      chosen = { command: this, work: work(...(given.slice(0, -1) as never[])), terms };
    };
  globals(command);

  addRunningCommands({ sub, choose });

  sub('ps', 'List agents')
    .option('-a, --all', 'dead ones too')
    .option('--tree <id>', 'only the tree of this agent')
    .action(
      choose(
        (options: { all?: boolean; tree?: string }) => async (context) =>
          (await import('./agents/ps.ts')).ps(context, options),
      ),
    );

  sub('tree', 'Show a tree of agents')
    .argument('[id]', "an agent of it; default: this folder's newest")
    .action(
      choose(
        (id: string | undefined) => async (context) => (await import('./agents/tree.ts')).tree(context, id),
      ),
    );

  sub('show', 'Show one agent')
    .argument(
      '[id]',
      "uuid, unique prefix, name or session key; default: the root of this folder's newest tree",
    )
    .action(
      choose(
        (id: string | undefined) => async (context) => (await import('./agents/show.ts')).show(context, id),
      ),
    );

  sub('logs', 'Show what an agent said and did')
    .argument(
      '[id]',
      "uuid, unique prefix, name or session key; default: the root of this folder's newest tree",
    )
    .option('-f, --follow', 'go on until the agent has ended')
    .option('--tail <n>', 'only the last n messages', whole)
    .action(
      choose(
        (id: string | undefined, options: { follow?: boolean; tail?: number }) => async (context) =>
          (await import('./agents/logs.ts')).logs(context, id, options),
      ),
    );

  sub('send', 'Write to an agent')
    .argument('<id>', 'uuid, unique prefix, name or session key')
    .argument('[text]', 'the message; - reads standard input')
    .action(
      choose(
        (id: string, text: string | undefined) => async (context) =>
          (await import('./agents/send.ts')).send(context, id, text),
      ),
    );

  sub('wait', 'Wait until agents are not at work any more')
    .argument('[ids...]', "which; default: all of this folder's newest tree")
    .option('--timeout <seconds>', 'at most so long', seconds, 3600)
    .action(
      choose(
        (ids: string[], options: { timeout: number }) => async (context) =>
          (await import('./run/wait.ts')).wait(context, ids, options),
      ),
    );

  sub('kill', 'End agents and all below them')
    .argument('<ids...>', 'uuid, unique prefix, name or session key of each')
    .option('-y, --yes', 'do not ask')
    .action(
      choose(
        (ids: string[], options: { yes?: boolean }) => async (context) =>
          (await import('./agents/kill.ts')).kill(context, ids, options),
      ),
    );

  sub('profiles', 'List the kinds of agents there are: built in, yours, and of this folder').action(
    choose(() => async (context) => (await import('./profiles/list-profiles.ts')).profiles(context)),
  );

  sub('trust', 'Accept the agent files of a folder, as they are now')
    .argument('[folder]', 'default: the folder to work in')
    .option('-y, --yes', 'do not ask')
    .option('--revoke', 'trust the folder no longer')
    .action(
      choose(
        (folder: string | undefined, options: { yes?: boolean; revoke?: boolean }) => async (context) =>
          (await import('./profiles/change-trust.ts')).trust(context, folder, options),
      ),
    );

  addApprovalsCommands({ sub, choose });
  addSubagentCommands({ sub, choose });
  addCronCommands({ sub, choose });
  addDeliveriesCommands({ sub, choose });
  addServeCommand({ sub, choose });
  addWorkerCommands({ sub, choose });
  addGcCommand({ sub, choose });

  sub('doctor', 'Show what is configured and what is missing').action(
    choose(() => async (context) => (await import('./doctor/doctor.ts')).doctor(context)),
  );

  sub('completion', 'Print what completes coppice in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    // Shells run this as they start: it needs no configuration, so a wrong one must not get in the way.
    .action(async (shell: Shell) => (await import('./completion/completion.ts')).completion(shell));

  return { command, chosen: () => chosen };
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
