import type { Command } from 'commander';
import { ASK, deliverOption, followOptions, rootOptions } from '../run/run-commands.ts';
import type { CommandBuilder } from '../start/command-builder.ts';
import { collect, countOf, ruleOptions } from '../start/option-values.ts';

const RUN = 'the agent of the run: uuid, unique prefix or name';
const AGENT = 'the agent: uuid, unique prefix or label';
const WORKFLOW = 'its name, or the path of a script';

/** Adds the commands for workflows (docs/workflows.md). */
export function addWorkflowCommands({ sub, imported }: CommandBuilder): void {
  const group = sub('workflow', 'Scripts that orchestrate agents: run, check, list, show');
  const run = sub('run', 'Run a workflow; progress on stderr, its result on stdout', group)
    .argument('<workflow>', WORKFLOW)
    .option('--args <json>', 'the value that the script sees as args, as JSON')
    .option('--calls <count>', 'maximum calls of agent(); default 1000', countOf)
    .option('--ask', `${ASK}; without it, ask() fails`);
  deliverOption(followOptions(rootOptions(run))).action(
    imported(async () => (await import('./workflow-run.ts')).workflowRun, { creates_ledger: true }),
  );
  sub('check', 'Run a script with invented results, without a model: calls, phases, depth', group)
    .argument('<workflow>', WORKFLOW)
    .option('--args <json>', 'the value that the script sees as args, as JSON')
    .action(imported(async () => (await import('./workflow-check.ts')).workflowCheck, { local: true }));
  sub('list', 'List the saved workflows that this folder can use, or the newest runs', group)
    .option('--runs', 'the runs of the ledger instead, with what has become of their agents')
    .action(imported(async () => (await import('./workflow-list.ts')).workflowList));
  sub('show', 'Show what a run has done, by phase', group)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./workflow-show.ts')).workflowShow));
  sub('pause', 'Let a run make no further requests; what is under way comes to its end', group)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowPause));
  sub('stop', 'Break off what a run has under way; it can go on later', group)
    .argument('<run>', RUN)
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowStop));
  sub('skip', 'End an agent of a run; its call gives null, which is no failure', group)
    .argument('<agent>', AGENT)
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowSkip));
  sub('retry', 'Run one agent of a run again, which gets its new result', group)
    .argument('<agent>', AGENT)
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowRetry));
  sub('send', 'Send a message to all agents of a run, or those of a phase', group)
    .argument('<run>', RUN)
    .argument('[text]', 'the message; - reads standard input')
    .option('--phase <title>', 'only to agents of this phase')
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowSend));
  sub('save', 'Save the script of a run as a workflow of this folder', group)
    .argument('<run>', RUN)
    .argument('<name>', 'the file is .coppice/workflows/NAME.js')
    .option('--overwrite', 'replace another script of that name')
    .action(imported(async () => (await import('./workflow-steer.ts')).workflowSave));
  const resume = sub('resume', 'Let a run go on; lead it here if no process does', group)
    .argument('<run>', RUN)
    .option('--ask', `${ASK}; without it, ask() fails`);
  followOptions(resume).action(imported(async () => (await import('./workflow-steer.ts')).workflowResume));
  const rerun = sub('rerun', 'Run a run that has ended again, with every result that it has', group)
    .argument('<run>', RUN)
    .option('--script <workflow>', 'another script: its name, or the path')
    .option('--args <json>', 'other args, as JSON')
    .option('--fresh <name>', 'make calls with this label or phase anew (repeatable)', collect, [])
    .option('--limit <key=value>', 'another limit, as for run (repeatable)', collect, [])
    .option('-y, --yes', 'run the other script unasked; agents keep the permissions of the run')
    .option('--ask', `${ASK}; without it, ask() fails`);
  deliverOption(followOptions(rerun)).action(
    imported(async () => (await import('./workflow-rerun.ts')).workflowRerun),
  );
  const what_if = sub('what-if', 'Continue a tree from a moment in several ways, and compare the results')
    .argument('<id>', 'an agent of the tree: uuid, unique prefix or name')
    .requiredOption('--at <when>', 'the moment, as --to of rewind')
    .option('--prompt <file>', 'text in place of the message at the moment (repeatable)', collect, []);
  compareOptions(what_if).action(
    imported(async () => (await import('./what-if.ts')).whatIf, { local: true }),
  );
  const tournament = sub(
    'tournament',
    'Run the tasks of recorded cases with several prompts, and compare them',
  )
    .argument('<file...>', 'cases that coppice record wrote')
    .option('--prompt <file>', 'text before each task, or around {{task}} (repeatable)', collect, [])
    .option('-y, --yes', 'allow everything that is not denied');
  compareOptions(ruleOptions(tournament)).action(
    imported(async () => (await import('./what-if.ts')).tournament, { creates_ledger: true, local: true }),
  );
}

/** Adds the options with which several trees are compared. */
function compareOptions(command: Command): Command {
  command
    .option('--profile <name>', 'profile of the root (repeatable)', collect, [])
    .option('--times <n>', 'how often each is made', countOf, 1)
    .option('--check <command>', 'run in the folder of each: it must exit with 0')
    .option('--schema <file>', 'JSON Schema that the answer of each must match')
    .option('--judge <question>', 'ask an agent which of those that passed is best')
    .option('--judge-model <name>', 'its model; default: that of the tree')
    .option('--limit <key=value>', 'tokens or cost of all together, as for run (repeatable)', collect, [])
    .option('--at-once <n>', 'how many go on at the same time', countOf, 4)
    .option('--here', 'all work in the folder of the tree, without worktrees')
    .option('--again <name>', 'anew, although the same order was given before');
  return followOptions(command);
}
