import { Option } from 'commander';
import type { Context } from '../setup/context.ts';
import type { CommandBuilder } from '../start/command-builder.ts';
import { EXIT } from '../start/exit-code.ts';
import { countOf, seconds, sinceDay, whole } from '../start/option-values.ts';
import type { LogsOptions } from './logs.ts';
import type { UsageOptions } from './usage.ts';

interface PsOptions {
  readonly all?: boolean;
  readonly tree?: string;
  readonly watch?: boolean;
}

const AGENT = 'uuid, unique prefix, name or session key';
const OR_ROOT = `${AGENT}; default: the root of this folder's newest tree`;

/** Runs `ps --watch`, which opens the terminal UI. */
type Watch = (context: Context, options: PsOptions) => Promise<number>;

/** Adds the commands that show agents, write to them or end them. */
export function addAgentsCommands({ sub, deferred }: CommandBuilder, watch: Watch): void {
  sub('ps', 'List living agents')
    .option('-a, --all', 'include ended agents and sub-agents')
    .option('--tree <id>', 'only the tree of this agent')
    .option('-w, --watch', 'all trees, grouped by what needs attention, updated live')
    .action(
      deferred(async (context, options: PsOptions) =>
        options.watch ? watch(context, options) : (await import('./ps.ts')).ps(context, options),
      ),
    );
  sub('tree', 'Show a tree of agents')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .action(deferred(async (context, id?: string) => (await import('./tree.ts')).tree(context, id)));
  sub('tasks', 'Show the task list that the agents of a tree share')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .action(deferred(async (context, id?: string) => (await import('./tasks.ts')).tasks(context, id)));
  sub('show', 'Show one agent')
    .argument('[id]', OR_ROOT)
    .action(deferred(async (context, id?: string) => (await import('./show.ts')).show(context, id)));
  sub('logs', 'Show the transcript of an agent')
    .argument('[id]', OR_ROOT)
    .option('-f, --follow', 'keep printing until the agent has ended')
    .option('--tail <n>', 'only the last n messages', whole)
    .action(
      deferred(async (context, id: string | undefined, options: LogsOptions) =>
        (await import('./logs.ts')).logs(context, id, options),
      ),
    );
  sub('usage', 'Show the usage of model requests, by day, model, profile, tree or agent')
    .addOption(
      new Option('--by <what>', 'one row for each')
        .choices(['day', 'model', 'profile', 'tree', 'agent'])
        .default('day'),
    )
    .option('--days <n>', 'days in UTC, of which today is the last', countOf, 30)
    .option('--since <day>', 'instead: from this day on, as 2026-01-31, or how long ago, as 7d', sinceDay)
    .action(
      deferred(async (context, options: UsageOptions) =>
        (await import('./usage.ts')).usage(context, options),
      ),
    );
  sub('budget', 'Show what an agent may still spend, or change its budget')
    .argument('<id>', AGENT)
    .argument('[amounts...]', 'usd=N, tokens=N, or =none; of a root, the limits of its tree')
    .action(
      deferred(async (context, id: string, amounts: string[]) =>
        (await import('./budget.ts')).budget(context, id, amounts),
      ),
    );
  sub('blame', 'Show which agent wrote each line of a file, and in which call')
    .argument('<file>', 'the file; FILE:LINE: only that line, with what its agent was told to do')
    .action(
      deferred(async (context, file: string) => (await import('./blame.ts')).blame(context, file), {
        local: true,
      }),
    );
  sub('send', 'Send a message to an agent')
    .argument('<id>', AGENT)
    .argument('[text]', 'the message; - reads standard input')
    .action(
      deferred(async (context, id: string, text?: string) =>
        (await import('./send.ts')).send(context, id, text),
      ),
    );
  sub('compact', 'Summarise the older part of a conversation for its model')
    .argument('<id>', AGENT)
    .option('--keep <text>', 'what the summary must keep')
    .action(
      deferred(async (context, id: string, options: { keep?: string }) =>
        (await import('./send.ts')).compact(context, id, options),
      ),
    );
  sub('wait', 'Wait until agents have stopped working')
    .argument('[ids...]', "the agents; default: all of this folder's newest tree")
    .option('--timeout <seconds>', `maximum time; then exit ${EXIT.wait_incomplete}`, seconds, 3600)
    .action(
      deferred(async (context, ids: string[], options: { timeout: number }) =>
        (await import('./wait.ts')).wait(context, ids, options),
      ),
    );
  sub('merge', "Merge agents' worktrees into the folder of their tree")
    .argument('<ids...>', `${AGENT} of each`)
    .action(deferred(async (context, ids: string[]) => (await import('./merge.ts')).merge(context, ids)));
  sub('kill', 'End agents and all their descendants')
    .argument('<ids...>', `${AGENT} of each`)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(
      deferred(async (context, ids: string[], options: { yes?: boolean }) =>
        (await import('./kill.ts')).kill(context, ids, options),
      ),
    );
}
