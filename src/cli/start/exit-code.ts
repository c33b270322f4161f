import type { AgentDocument } from '../../documents/shapes/agent-parts.ts';
import type { ErrorCode } from '../../records/coppice-error.ts';
import { type Outcome, UNSUCCESSFUL } from '../../records/run/outcome.ts';

/** Exit codes of the command line (docs/command-line.md). */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  not_found: 3,
  no_credentials: 4,
  wait_incomplete: 5,
  /** As EX_TEMPFAIL of sysexits: the provider takes no requests, and what is begun goes on later. */
  paused: 75,
  timeout: 124,
  interrupted: 130,
} as const;

const OF_ERROR: Partial<Record<ErrorCode, number>> = {
  E_USAGE: EXIT.usage,
  E_CONFIG: EXIT.usage,
  E_INVALID_ARGUMENT: EXIT.usage,
  E_MODEL_UNKNOWN: EXIT.usage,
  E_RULES: EXIT.usage,
  E_SCRIPT: EXIT.usage,
  E_NO_PRICE: EXIT.usage,
  E_NO_FOLDER: EXIT.usage,
  E_NODE_TOO_OLD: EXIT.usage,
  E_JOB_EXISTS: EXIT.usage,
  E_NO_KEY: EXIT.no_credentials,
};

/** `code`: that of a `CoppiceError` or a `StoreError`. */
export function exitCodeOfError(code: string): number {
  if (code === 'E_DB_NONE' || /_(NOT_FOUND|AMBIGUOUS)$/.test(code)) return EXIT.not_found;
  if (code.startsWith('E_DB_')) return EXIT.usage;
  return OF_ERROR[code as ErrorCode] ?? EXIT.failed;
}

/** The exit code of a run, by its outcome and the failure of its root. An outcome that is still open is no failure. */
export function exitCodeOf({ outcome }: Pick<Outcome, 'outcome'>, failure: AgentDocument['error']): number {
  if (!UNSUCCESSFUL.has(outcome)) return EXIT.done;
  return failure?.kind === 'no_model' || failure?.kind === 'auth' ? EXIT.no_credentials : EXIT.failed;
}
