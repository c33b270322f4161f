import type { Command } from 'commander';

const HELP = new Set(['-h', '--help', '-V', '--version']);

/** `coppice` without a command is the terminal UI, on a terminal. Returns the arguments with the command put in where it was left out. */
export function withDefaultCommand(
  argv: readonly string[],
  interactive: boolean,
  program: Command,
): readonly string[] {
  const [node = '', script = '', ...args] = argv;
  if (!interactive || args.some((arg) => HELP.has(arg))) return argv;
  const with_value = flagsWithValue(program);
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) return argv;
    if (with_value.has(arg)) index += 1;
  }
  return [node, script, 'ui', ...args];
}

/** What follows one of these is no command. */
function flagsWithValue(program: Command): ReadonlySet<string> {
  const ui = program.commands.filter((command) => command.name() === 'ui');
  const options = [program, ...ui].flatMap((command) => command.options);
  return new Set(options.flatMap(({ required, short, long }) => (required ? [short, long] : [])) as string[]);
}
