import { type Command, Help } from 'commander';

/** The commands by what people want, in the order of the help. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Begin:': ['demo', 'setup', 'doctor', 'help'],
  'Give agents work:': ['run', 'ui', 'resume', 'workflow', 'cron'],
  'Watch them:': [
    ...['ps', 'tree', 'show', 'logs', 'tasks', 'usage'],
    ...['search', 'blame', 'why', 'diff', 'subagent', 'export'],
  ],
  'Steer them:': ['send', 'wait', 'kill', 'approvals', 'budget', 'compact', 'merge', 'rewind', 'what-if'],
  'Test them:': ['record', 'replay', 'tournament'],
  'Connect other programs:': ['serve', 'web', 'worker', 'acp', 'mcp', 'deliveries'],
  'Look after this machine:': ['profiles', 'trust', 'gc', 'completion'],
};
export const EVERYWHERE = 'Flags of every command:';

/** Command lines that are shown below the help of a command ('': of the program) and what they do. A test parses each of them. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, what: string])[]>> = {
  '': [
    ['coppice demo', 'agents at work; needs no key'],
    ['coppice setup', 'connect a model'],
    ['coppice run "Why is the login slow?"', 'one task; its answer on stdout'],
    ['coppice run "Fix it" --allow bash --ask', 'the rest waits for your yes'],
    ['coppice ps --watch', 'elsewhere: who does what'],
    ['coppice resume', 'go on after Ctrl-C or a crash'],
  ],
  run: [
    ['coppice run "Run the tests" --allow "bash:npm test"', 'one command allowed'],
    ['coppice run - --json < task.txt', 'for scripts'],
    ['coppice run "Review src" --limit cost=2', 'at most 2 USD'],
  ],
  resume: [
    ['coppice resume', "this folder's newest tree with work left"],
    ['coppice resume 3f2a --retry', 'also agents whose turn failed'],
  ],
  send: [['coppice send reader "Skip the tests folder"', '']],
  approvals: [['coppice approvals allow 9c1d', 'let this call run']],
  'cron add': [['coppice cron add tests --cron "0 7 * * 1-5" --task "Run the tests"', '']],
  'workflow run': [['coppice workflow run review.js --args \'{"files":["a.ts"]}\'', '']],
  'mcp add': [
    ['coppice mcp add files -- npx -y @modelcontextprotocol/server-filesystem .', ''],
    ['coppice mcp add tracker --url https://tracker.example/mcp', ''],
  ],
  export: [['coppice export --html --out tree.html', 'a page for any browser']],
};

/** Groups the help of the program and of all commands, and adds their examples. Before the first command is added. */
export function layHelp(program: Command): Command {
  const headings = ['Options:', EVERYWHERE, ...Object.keys(COMMAND_GROUPS)];
  return program.configureHelp({
    // Every command takes options: saying it in each line would only push the descriptions to the right.
    subcommandTerm(command) {
      return Help.prototype.subcommandTerm.call(this, command).replace(' [options]', '');
    },
    // Leaves out the default of repeatable options: an empty list says nothing.
    optionDescription(option) {
      return Help.prototype.optionDescription.call(this, option).replace(' (default: [])', '');
    },
    groupItems(unsorted, visible, groupOf) {
      const groups = Help.prototype.groupItems.call(this, unsorted, visible, groupOf as never);
      const sorted = [...groups].sort(([a], [b]) => headings.indexOf(a) - headings.indexOf(b));
      return new Map(sorted.filter(([, items]) => items.length > 0)) as never;
    },
    formatHelp(command, helper) {
      const help = Help.prototype.formatHelp.call(this, command, helper);
      const [, ...names] = pathOf(command).split(' ');
      const lines = EXAMPLES[names.join(' ')];
      if (lines === undefined) return help;
      const width = Math.max(...lines.map(([line]) => line.length));
      const rows = lines.map(([line, what]) => `  ${line.padEnd(width)}  ${what}`.trimEnd());
      return `${help.trimEnd()}\n\nExamples:\n${rows.join('\n')}\n`;
    },
  });
}

/** Puts each command of the program into its group. After the last command was added. */
export function groupCommands(program: Command): void {
  for (const [heading, names] of Object.entries(COMMAND_GROUPS))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
}

/** Returns the full name of a command, such as `coppice worker list`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
