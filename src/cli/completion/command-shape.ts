import type { Argument, Command, Option } from 'commander';

/** The value that one position of the command line takes. */
export interface Place {
  readonly kind: WordKind;
  /** Fixed list of values; null if there is none. */
  readonly choices: readonly string[] | null;
}

export interface FlagShape {
  /** Short and long name, such as `-y`, `--yes`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Null if the flag takes no value. */
  readonly value: Place | null;
}

/** A command, as completion uses it. */
export interface CommandShape {
  /** Names of the command and those above it, such as `approvals allow`; empty for coppice itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly FlagShape[];
  readonly places: readonly Place[];
  /** Whether the last place takes any number of values. */
  readonly variadic: boolean;
}

/** All commands that the help shows, coppice itself first. */
export function commandShapes(command: Command, path = ''): CommandShape[] {
  const help = command.createHelp();
  const shown = help.visibleCommands(command);
  const commands = shown.map((one) => ({ name: one.name(), description: one.description() }));
  const shape: CommandShape = {
    path,
    commands,
    flags: help.visibleOptions(command).map(flagShape),
    places: command.registeredArguments.map((argument) => placeOf(argument, path)),
    variadic: command.registeredArguments.at(-1)?.variadic ?? false,
  };
  const below = commandsOf(command).flatMap((one) => commandShapes(one, `${path} ${one.name()}`.trim()));
  // A group that is a command itself has no `help` below it.
  const helped = commands.some(({ name }) => name === 'help');
  return [shape, ...below, ...(helped ? helpShapes(command, `${path} help`.trim()) : [])];
}

/** Shapes of `help`, which takes the name of a command below this one, and of one below that. */
function helpShapes(command: Command, path: string): CommandShape[] {
  const below = commandsOf(command);
  if (below.length === 0) return [];
  const commands = below.map((one) => ({ name: one.name(), description: one.description() }));
  return [
    { path, commands, flags: [], places: [], variadic: false },
    ...below.flatMap((one) => helpShapes(one, `${path} ${one.name()}`)),
  ];
}

function commandsOf(command: Command): readonly Command[] {
  return command.commands.filter((one) => one.name() !== 'help');
}

function placeOf(argument: Argument, path: string): Place {
  return { kind: kindOfArgument(path, argument.name()), choices: argument.argChoices ?? null };
}

function flagShape(option: Option): FlagShape {
  const { short, long, description, required, optional, argChoices, flags } = option;
  const placeholder = /[<[]([\w=]+)/.exec(flags)?.[1] ?? '';
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    value:
      required || optional
        ? { kind: kindOfOption(long ?? short ?? '', placeholder), choices: argChoices ?? null }
        : null,
  };
}

/** Kind of a value on the command line; `text` is not completed. */
export type WordKind =
  | 'file'
  | 'folder'
  | 'agent'
  | 'living-agent'
  | 'run'
  | 'active-run'
  | 'approval'
  | 'granted-rule'
  | 'job'
  | 'delivery'
  | 'zone'
  | 'profile'
  | 'toolset'
  | 'text';

/** Commands for which only some values of the kind make sense. */
const NARROWED: Readonly<Record<string, WordKind>> = {
  'approvals show': 'approval',
  'approvals allow': 'approval',
  'approvals deny': 'approval',
  'approvals rules remove': 'granted-rule',
  kill: 'living-agent',
  send: 'living-agent',
  wait: 'living-agent',
  'subagent cancel': 'active-run',
};

/** Kinds by the placeholder in the help, such as `<file>`. */
const PLACEHOLDERS: Readonly<Record<string, WordKind>> = {
  id: 'agent',
  ids: 'agent',
  run: 'run',
  job: 'job',
  deliveries: 'delivery',
  zone: 'zone',
  file: 'file',
  folder: 'folder',
  url: 'file',
};

/** Kinds of options whose placeholder is not specific enough. */
const OPTIONS: Readonly<Record<string, WordKind>> = {
  '--profile': 'profile',
  '--toolset': 'toolset',
  '--server': 'text',
};

/** Returns the kind of a command's argument; `path` is such as `approvals allow`. */
export function kindOfArgument(path: string, placeholder: string): WordKind {
  const kind = PLACEHOLDERS[placeholder] ?? 'text';
  return kind === 'agent' || kind === 'run' ? (NARROWED[path] ?? kind) : kind;
}

/** Returns the kind of an option's value, as in `--tree <id>`. */
export function kindOfOption(long: string, placeholder: string): WordKind {
  return OPTIONS[long] ?? PLACEHOLDERS[placeholder] ?? 'text';
}
