import { type Command, Option } from 'commander';
import type { CommandBuilder } from '../start/command-builder.ts';
import { EXIT } from '../start/exit-code.ts';
import { collect, ruleOptions, seconds } from '../start/option-values.ts';

export const ASK = 'calls that need approval wait for coppice approvals allow, instead of being denied';
export const EVENTS = 'print every event as a JSON line on stdout';

/** Adds the commands that lead trees of agents in their own process: run, ui, setup, acp, demo and resume. */
export function addRunCommands({ sub, deferred, imported }: CommandBuilder): void {
  const run = sub('run', 'Give an agent a task; progress on stderr, its answer on stdout')
    .argument('[prompt]', 'the task; - reads standard input')
    .option('--name <name>', 'name of the agent', 'main')
    .option('--detach', 'only record the task; coppice worker or coppice serve leads it')
    .option('--dry-run', 'start nothing; estimate usage from past agents')
    .option('--ask', ASK);
  deliverOption(followOptions(placementOptions(rootOptions(run)))).action(
    imported(async () => (await import('./run.ts')).run, { creates_ledger: true }),
  );

  const ui = sub('ui', 'Terminal UI; the default on a terminal')
    .option('--tree <id>', 'open this tree')
    .option('-c, --continue', "open this folder's newest tree")
    .option('-r, --resume', 'choose a conversation from a list')
    .option('--accessible', 'words instead of symbols, no animation')
    .option('--plain', 'ASCII, no colours')
    .option('--detach', 'workers lead what you start; this window follows and steers it');
  placementOptions(rootOptions(ui)).action(
    imported(async () => (await import('./ui.ts')).ui, { creates_ledger: true, local: true }),
  );

  sub('setup', 'Connect a model, by a key or a local server, and start a conversation').action(
    deferred(
      async (context) => (await import('./ui.ts')).ui(context, { limit: [], label: [], set_up: true }),
      { creates_ledger: true, local: true },
    ),
  );

  const acp = sub('acp', 'Serve an editor over the Agent Client Protocol, on standard input and output')
    .option('--toolset <name>', 'toolset by which agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'configure the agents by a named profile; see coppice profiles')
    .option('--setup', 'connect a model in this terminal, then exit; editors run it to log in');
  ruleOptions(acp).action(
    imported(async () => (await import('../acp/acp.ts')).acp, { creates_ledger: true, local: true }),
  );

  sub('demo', 'Watch one agent fork three: scripted, offline, with real tools, in this folder')
    .option('--fast', 'no pauses')
    .action(imported(async () => (await import('./demo.ts')).demo, { creates_ledger: true, local: true }));

  const resume = sub('resume', 'Continue a tree that no process leads; with --model, on another model')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree with work left")
    .option(
      '--retry',
      'also restart agents whose turn failed, or was cut short by a limit that is higher now',
    )
    .option(
      '--without-last',
      'restart agents whose provider rejected their conversation, without the message that it named, or else the newest',
    )
    .option(
      '--limit <key=value>',
      'new limit of the tree, as for run (repeatable); agents that a lower one had cut short go on',
      collect,
      [],
    )
    .option('--ask', ASK);
  followOptions(resume).action(imported(async () => (await import('./resume.ts')).resume));
}

/** Adds the options with which a new root is created. */
export function rootOptions(command: Command): Command {
  return ruleOptions(command)
    .option('-y, --yes', 'allow everything that is not denied')
    .option(
      '--limit <key=value>',
      'a limit, e.g. cost=2.50: depth, children, live, total, turns, run, tokens or cost (repeatable)',
      collect,
      [],
    )
    .addOption(thinkingOption())
    .option('--toolset <name>', 'toolset by which agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'configure the agent by a named profile; see coppice profiles');
}

/** Adds the options that say on which machines a tree may be led. */
function placementOptions(command: Command): Command {
  return command
    .option('--label <name>', 'with --detach: only on workers with this label (repeatable)', collect, [])
    .option('--anywhere', 'with --detach: on any machine, not only on this one');
}

export function thinkingOption(): Option {
  return new Option('--thinking <level>', 'how much the model thinks before it answers').choices([
    'off',
    'low',
    'medium',
    'high',
  ]);
}

export function deliverOption(command: Command): Command {
  return command.option(
    '--deliver <target>',
    'where its result goes: telegram:CHAT, webhook:NAME, file:PATH, stdout (repeatable)',
    collect,
    [],
  );
}

export function followOptions(command: Command): Command {
  return command
    .option('--events', EVENTS)
    .option('--no-wait', "exit after the agent's first answer, even while other agents work")
    .option(
      '--timeout <seconds>',
      `maximum time; then exit ${EXIT.timeout}, and coppice resume continues it`,
      seconds,
    );
}
