import type { Argument, Command, Option } from 'commander';
import { kindOfArgument, kindOfOption, type WordKind } from './word-kind.ts';

/** What may stand in one place of the command line. */
export interface Place {
  readonly kind: WordKind;
  /** Null: not from a fixed list. */
  readonly choices: readonly string[] | null;
}

export interface FlagShape {
  /** `-y`, `--yes`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Null: takes no value. */
  readonly value: Place | null;
}

/** One command as completion sees it. */
export interface CommandShape {
  /** Empty for coppice itself; `approvals allow`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly FlagShape[];
  readonly places: readonly Place[];
  /** The last place takes any number. */
  readonly variadic: boolean;
}

/** All commands that help shows, coppice itself first. */
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
  const below = shown.flatMap((one) => {
    const shapes = commandShapes(one, `${path} ${one.name()}`.trim());
    if (one.name() !== 'help') return shapes;
    // Commander's own: it takes the name of a command.
    const choices = commands.map(({ name }) => name).filter((name) => name !== 'help');
    return shapes.map((each) => ({ ...each, places: [{ kind: 'text' as const, choices }] }));
  });
  return [shape, ...below];
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
