import { CoppiceError } from '../../records/coppice-error.ts';

/** What a log says of an error: its message, and what to do about it where that is known. */
export function errorText(error: unknown): string {
  if (error instanceof CoppiceError && error.hint !== null) return `${error.message}. ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
