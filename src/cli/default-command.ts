/** Flags that take a value: what follows them is no command. */
const WITH_VALUE = new Set([
  '--config',
  '--database',
  '--model',
  '--cwd',
  '--tree',
  '--allow',
  '--deny',
  '--limit',
  '--thinking',
  '--toolset',
  '--profile',
]);
const HELP = new Set(['-h', '--help', '-V', '--version']);

/** `coppice` without a command is the terminal UI, on a terminal. Returns the arguments with the command put in where it was left out. */
export function withDefaultCommand(argv: readonly string[], interactive: boolean): readonly string[] {
  const [node = '', script = '', ...args] = argv;
  if (!interactive || args.some((arg) => HELP.has(arg))) return argv;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-')) return argv;
    if (WITH_VALUE.has(arg)) index += 1;
  }
  return [node, script, 'ui', ...args];
}
