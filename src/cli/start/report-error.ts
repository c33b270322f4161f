import { errorJson } from '../../documents/error-json.ts';
import { clean } from '../../render/clean.ts';
import { exitCodeOfError } from './exit-code.ts';

/** Prints the error for people, or as JSON on standard output, and returns the exit code. `debug` adds the stack. */
export function reportError(
  error: unknown,
  options: { readonly json: boolean; readonly debug: boolean },
): number {
  const report = errorJson(error);
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
