import { CommanderError } from 'commander';
import { createProgram } from '../program.ts';
import { withDefaultCommand } from '../run/default-command.ts';
import { contextOf } from '../setup/context.ts';
import { EXIT } from './exit-code.ts';
import { reportError } from './report-error.ts';

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
    return await chosen.work(await contextOf(chosen.command, chosen.terms.begins === true));
  } catch (error) {
    // Commander has printed its message already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return reportError(error, { json, debug });
  }
}
