import { CoppiceError } from '../records/coppice-error.ts';
import { StoreError, type StoreErrorCode } from '../store/store-error.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

/** `error` of `coppice/error/v1`. */
export type ErrorDocument = DocumentOf<'coppice/error/v1'>['error'];

/** Hints by code, for messages that do not say what to do next. */
const HINTS: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  E_DB_NONE: 'The first coppice run, cron add or serve creates it.',
  E_DB_UNAVAILABLE: 'Try again when it answers; coppice doctor checks it',
};

/** Converts any error to one shape: what happened, why, and what to do next. */
export function errorJson(error: unknown): ErrorDocument {
  if (error instanceof CoppiceError || error instanceof StoreError) {
    const { code, message, retryable } = error;
    const hint = error instanceof CoppiceError ? error.hint : (HINTS[error.code] ?? null);
    return { code, message, hint, retryable };
  }
  const told = (code: string, message: string, hint: string) => ({ code, message, hint, retryable: false });
  // The working folder is gone; any code may be the first to ask for it.
  if ((error as { readonly syscall?: string } | null)?.syscall === 'uv_cwd')
    return told(
      'E_NO_FOLDER',
      'the folder that you are in was removed',
      'Go to another one, or name it with --cwd',
    );
  if (error instanceof Error && error.name === 'InvalidRuleError')
    return told('E_USAGE', error.message, 'Rules: bash, bash:git *, write:src/**, *');
  const message = error instanceof Error ? error.message : String(error);
  return told('E_INTERNAL', message, 'Run again with --debug and report it.');
}
