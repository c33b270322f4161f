import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { StoreError, type StoreErrorCode } from '../../store/store-error.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';

export interface Report {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly retryable: boolean;
  readonly exit: number;
}

/** What to do next, for messages that do not say it. */
const HINTS: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  E_DB_NONE: 'The first coppice run, cron add or serve creates it.',
  E_DB_UNAVAILABLE: 'Try again when it answers; coppice doctor checks it',
};

/** Every error in one shape: what happened, why, and what to do next. */
export function reportOf(error: unknown): Report {
  // Any code may be the first to ask for the working folder.
  if ((error as { readonly syscall?: string } | null)?.syscall === 'uv_cwd')
    return reportOf(
      new CoppiceError('E_NO_FOLDER', 'the folder that you are in was removed', {
        hint: 'Go to another one, or name it with --cwd',
      }),
    );
  if (error instanceof CoppiceError) {
    const { code, message, hint, retryable } = error;
    return { code, message, hint, retryable, exit: exitCodeOfError(code) };
  }
  if (error instanceof StoreError)
    return {
      code: error.code,
      message: error.message,
      hint: HINTS[error.code] ?? null,
      retryable: error.retryable,
      exit: error.code === 'E_DB_NONE' ? EXIT.not_found : EXIT.usage,
    };
  if (error instanceof Error && error.name === 'InvalidRuleError') {
    return {
      code: 'E_USAGE',
      message: error.message,
      hint: 'Rules: bash, bash:git *, write:src/**, *',
      retryable: false,
      exit: EXIT.usage,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'E_INTERNAL',
    message,
    hint: 'Run again with --debug and report it.',
    retryable: false,
    exit: EXIT.failed,
  };
}

/** Prints the error for people, or as JSON on standard output, and returns the exit code. `debug` adds the stack. */
export function reportError(
  error: unknown,
  options: { readonly json: boolean; readonly debug: boolean },
): number {
  const { exit, ...report } = reportOf(error);
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
  return exit;
}
