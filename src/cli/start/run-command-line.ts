import { type Command, CommanderError } from 'commander';
import { errorJson } from '../../documents/error-json.ts';
import { clean } from '../../render/clean.ts';
import { type LedgerContext, withSameLedger } from '../../settings/suggested-command.ts';
import { createProgram } from '../program.ts';
import { contextOf } from '../setup/context.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';

/** Parses, runs, reports; returns the exit code. */
export async function runCommandLine(argv: readonly string[], version: string): Promise<number> {
  const json = argv.includes('--json');
  const debug = argv.includes('--debug');
  const program = createProgram(version);
  try {
    const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const args = withDefaultCommand(argv, interactive, program.command);
    if (args.length <= 2) {
      program.command.outputHelp();
      return EXIT.done;
    }
    await program.command.parseAsync([...args]);
    const chosen = program.chosen();
    if (chosen === null) return EXIT.done;
    return await chosen.work(await contextOf(chosen.command, chosen.options));
  } catch (error) {
    // Help or the version, which is printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(error, { json, debug, ledger: program.chosen()?.command.optsWithGlobals() ?? {} });
  }
}

const HELP = new Set(['-h', '--help', '-V', '--version']);

/** Inserts the command `ui` on a terminal if no command is given. */
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

/** Returns the flags after which the next word is a value, not a command. */
function flagsWithValue(program: Command): ReadonlySet<string> {
  const ui = program.commands.filter((command) => command.name() === 'ui');
  const options = [program, ...ui].flatMap((command) => command.options);
  return new Set(options.flatMap(({ required, short, long }) => (required ? [short, long] : [])) as string[]);
}

/** Prints the error for people, or as JSON on standard output, and returns the exit code. `debug` adds the stack. */
export function reportError(
  error: unknown,
  options: { readonly json: boolean; readonly debug: boolean; readonly ledger?: LedgerContext['options'] },
): number {
  const known = errorJson(error);
  const report = {
    ...known,
    hint: known.hint && withSameLedger({ options: options.ledger ?? {} }, known.hint),
  };
  if (options.json)
    process.stdout.write(`${JSON.stringify({ schema: 'coppice/error/v1', error: report })}\n`);
  else {
    process.stderr.write(`error: ${clean(report.message)} (${report.code})\n`);
    if (report.hint !== null)
      process.stderr.write(
        `${report.hint
          .split('\n')
          .map((line) => `  ${clean(line)}`)
          .join('\n')}\n`,
      );
  }
  if (options.debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return exitCodeOfError(report.code);
}
