import { Option } from 'commander';
import type { Context } from '../setup/context.ts';
import type { CommandBuilder } from '../start/command-builder.ts';
import { EXIT } from '../start/exit-code.ts';
import { countOf, seconds, sinceDay, whole } from '../start/option-values.ts';

interface PsOptions {
  readonly all?: boolean;
  readonly tree?: string;
  readonly watch?: boolean;
}

const AGENT = 'uuid, unique prefix, name or session key';
const ROOT_BY_DEFAULT = "default: the root of this folder's newest tree";
const OR_ROOT = `${AGENT}; ${ROOT_BY_DEFAULT}`;

/** Runs `ps --watch`, which opens the terminal UI. */
type Watch = (context: Context, options: PsOptions) => Promise<number>;

/** Adds the commands that show agents, write to them or end them. */
export function addAgentsCommands({ sub, deferred, imported }: CommandBuilder, watch: Watch): void {
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
    .action(imported(async () => (await import('./tree.ts')).tree));
  sub('tasks', 'Show the task list that the agents of a tree share')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .action(imported(async () => (await import('./tree.ts')).tasks));
  sub('show', 'Show one agent')
    .argument('[id]', OR_ROOT)
    .action(imported(async () => (await import('./show.ts')).show));
  sub('logs', 'Show the transcript of an agent')
    .argument('[id]', OR_ROOT)
    .option('-f, --follow', 'keep printing until the agent has ended')
    .option('--tail <n>', 'only the last n messages', whole)
    .action(imported(async () => (await import('./logs.ts')).logs));
  sub('usage', 'Show the usage of model requests, by day, model, profile, tree or agent')
    .addOption(
      new Option('--by <what>', 'one row for each')
        .choices(['day', 'model', 'profile', 'tree', 'agent'])
        .default('day'),
    )
    .option('--days <n>', 'days in UTC, of which today is the last', countOf, 30)
    .option('--since <day>', 'instead: from this day on, as 2026-01-31, or how long ago, as 7d', sinceDay)
    .action(imported(async () => (await import('./usage.ts')).usage));
  sub('budget', 'Show what an agent may still spend, or change its budget')
    .argument('<id>', AGENT)
    .argument('[amounts...]', 'usd=N, tokens=N, or =none; of a root, the limits of its tree')
    .action(imported(async () => (await import('./budget.ts')).budget));
  sub('blame', 'Show which agent wrote each line of a file, and in which call')
    .argument('<file>', 'the file; FILE:LINE: only that line, with what its agent was told to do')
    .action(imported(async () => (await import('./blame.ts')).blame, { local: true }));
  sub('search', 'Find messages of all agents that contain these words')
    .argument(
      '<words...>',
      'words, or phrases in double quotes; all must be there, the last letters may be left out',
    )
    .action(imported(async () => (await import('./search.ts')).search));
  sub('why', 'Show what led to an answer, a call or a line of a file, back to the prompts')
    .argument(
      '[what]',
      `AGENT, AGENT#MESSAGE, a call or its approval, TREE#CALL, FILE:LINE; ${ROOT_BY_DEFAULT}`,
    )
    .option('-a, --all', 'everything, not only some 20 lines')
    .action(imported(async () => (await import('./why.ts')).why));
  sub('diff', 'Compare two trees, or two agents with all below them: the first difference, then each agent')
    .argument('<id>', `${AGENT}; of a tree, its root`)
    .argument('<other>', 'the one to compare it with')
    .option('-a, --all', 'also agents that are the same')
    .action(imported(async () => (await import('./diff.ts')).diff));
  sub('send', 'Send a message to an agent')
    .argument('<id>', AGENT)
    .argument('[text]', 'the message; - reads standard input')
    .action(imported(async () => (await import('./send.ts')).send));
  sub('compact', 'Summarise the older part of a conversation for its model')
    .argument('<id>', AGENT)
    .option('--keep <text>', 'what the summary must keep')
    .action(imported(async () => (await import('./send.ts')).compact));
  sub('wait', 'Wait until agents have stopped working')
    .argument(
      '[ids...]',
      "the agents; default: all of this folder's newest tree, also those created meanwhile",
    )
    .option('--timeout <seconds>', `maximum time; then exit ${EXIT.wait_incomplete}`, seconds, 3600)
    .action(imported(async () => (await import('./wait.ts')).wait));
  sub('rewind', 'Make a new tree that is as this one was at a moment')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .option(
      '--to <when>',
      'a message as 12 or NAME#12, "before 12", "before CALL", or a time as "10 minutes"',
    )
    .option(
      '--edit <text>',
      'text that takes the place of the message that --to names; - reads standard input',
    )
    .option('--result <call=text>', 'instead of --to: another result of this call')
    .option('--files', 'also restore files that write and patch changed since')
    .option('--dry-run', 'only show what would be done')
    .action(imported(async () => (await import('./orders/rewind.ts')).rewind));
  sub('merge', "Merge agents' worktrees into the folder of their tree")
    .argument('<ids...>', `${AGENT} of each`)
    .action(imported(async () => (await import('./orders/merge.ts')).merge));
  sub('kill', 'End agents and all their descendants')
    .argument('<ids...>', `${AGENT} of each`)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(imported(async () => (await import('./orders/kill.ts')).kill));
}
