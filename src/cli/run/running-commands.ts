import { type Command, Option } from 'commander';
import { collect, seconds } from '../option-values.ts';
import type { ProgramPart } from '../program-part.ts';
import { EXIT } from '../start/exit-code.ts';
import type { UiOptions } from '../ui/ui.ts';
import type { ResumeOptions } from './resume.ts';
import type { RunOptions } from './run.ts';

/** Commands that run a tree of agents. */
export function addRunningCommands({ sub, choose }: ProgramPart): void {
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
    .option('--detach', 'only enter it: coppice worker or coppice serve leads it')
    .option('--label <name>', 'with --detach: only workers with this label (repeatable)', collect, [])
    .option('--anywhere', 'with --detach: on any machine, not only on this one')
    .action(
      choose(
        (prompt: string | undefined, options: RunOptions) => async (context) =>
          (await import('./run.ts')).run(context, prompt, options),
        { begins: true },
      ),
    );

  sub('ui', 'The terminal UI; what coppice alone does on a terminal')
    .option('--tree <id>', 'open this tree again')
    .option('-c, --continue', "open this folder's newest tree again")
    .option('--allow <rule>', 'allow a tool or a pattern (repeatable)', collect, [])
    .option('--deny <rule>', 'deny a tool or a pattern (repeatable)', collect, [])
    .option('-y, --yes', 'allow everything that is not denied')
    .option('--accessible', 'words instead of signs, nothing that moves by itself')
    .option('--plain', 'ASCII, no colour')
    .option('--limit <key=value>', 'as for run (repeatable)', collect, [])
    .addOption(new Option('--thinking <level>').choices(['off', 'low', 'medium', 'high']))
    .option('--toolset <name>', 'by which tools agents work together (repeatable)', collect, [])
    .option('--profile <name>', 'set the agent up by a named profile')
    .option('--detach', 'workers lead what you begin; this window follows and steers it')
    .option('--label <name>', 'with --detach: only workers with this label (repeatable)', collect, [])
    .option('--anywhere', 'with --detach: on any machine, not only on this one')
    .action(
      choose((options: UiOptions) => async (context) => (await import('../ui/ui.ts')).ui(context, options), {
        begins: true,
      }),
    );

  sub('demo', 'Watch one agent fork three: scripted, offline, with real tools, in this folder')
    .option('--fast', 'no pauses')
    .action(
      choose(
        (options: { fast?: boolean }) => async (context) =>
          (await import('./demo.ts')).demo(context, options),
        { begins: true },
      ),
    );

  running(
    sub('resume', 'Go on with a tree that nobody runs; with --model on another model').argument(
      '[id]',
      "an agent of it; default: this folder's newest with something to do",
    ),
  )
    .option('--retry', 'also restart agents whose turn failed')
    .option(
      '--without-last',
      'restart agents whose provider refused their conversation, without the message that it named, or the newest',
    )
    .option(
      '--limit <key=value>',
      'as for run (repeatable): the tree has it from now on; what tokens or cost had stopped goes on',
      collect,
      [],
    )
    .option('--ask', 'what needs approval waits for coppice approvals allow, instead of being denied')
    .action(
      choose(
        (id: string | undefined, options: ResumeOptions) => async (context) =>
          (await import('./resume.ts')).resume(context, id, options),
      ),
    );
}

/** Flags of commands that run a tree. */
function running(command: Command): Command {
  return command
    .option('--events', 'every event as a JSON line on stdout')
    .option('--no-wait', "end with the agent's first answer, whatever else is still at work")
    .option('--timeout <seconds>', `stop after so long (exit ${EXIT.timeout}); nothing is lost`, seconds);
}
