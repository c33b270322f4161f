/**
 * The one table of errors that people and programs see. Codes are stable; `hint` says what to do next.
 * The command line derives its exit codes from it (`src/cli/start/exit-code.ts`).
 */
export const ERROR_CODES = {
  E_USAGE: 'the command line or an option is wrong',
  E_CONFIG: 'the configuration is wrong',
  E_AGENT_NOT_FOUND: 'no agent matches',
  E_AGENT_AMBIGUOUS: 'several agents match',
  E_AGENT_DEAD: 'the agent has ended',
  E_UNLED: 'no process leads the tree',
  E_RUN_NOT_FOUND: 'no run matches',
  E_CALL_NOT_FOUND: 'no call of the tree matches',
  E_RUN_AMBIGUOUS: 'several runs match',
  E_RUN_FINISHED: 'the run has ended',
  E_REFUSED: 'the order was refused',
  E_ASK_ANSWERED: 'the question was already answered or is gone',
  E_ASK_CHANGED: 'the question is not the one that was shown',
  E_ASK_NOT_FOUND: 'no such question',
  E_RULE_NOT_FOUND: 'no such granted rule',
  E_JOB_NOT_FOUND: 'no scheduled job matches',
  E_JOB_AMBIGUOUS: 'several scheduled jobs match',
  E_JOB_EXISTS: 'a scheduled job with that name already exists',
  E_JOB_AT_WORK: 'a run of the scheduled job is still in progress',
  E_HOOK_NOT_FOUND: 'no webhook of the configuration matches',
  E_WORKER_NOT_FOUND: 'no worker matches',
  E_DELIVERY_NOT_FOUND: 'no delivery matches',
  E_INVALID_ARGUMENT: 'a value is not allowed',
  E_TOOL_NOT_FOUND: 'no such tool',
  E_TOOL_FAILED: 'a tool failed',
  E_MODEL_UNKNOWN: 'no such model or provider',
  E_NO_KEY: 'the key of a provider is missing',
  E_NO_PRICE: 'a limit on cost needs the price of the model',
  E_NO_FOLDER: 'the working folder cannot be used',
  E_RULES: 'a rule file of the scripted model is wrong',
  E_SCRIPT: 'a workflow script is wrong',
  E_WORKFLOW: 'a workflow failed or was stopped, and has no result',
  E_ABORTED: 'the signal of the caller was aborted',
  E_TIMEOUT: 'it took longer than the caller waits',
  E_CLOSED: 'the runtime is closed',
  E_DATABASE: 'the database cannot be used',
  E_NODE_TOO_OLD: 'Node.js is too old',
  E_UNAUTHORIZED: 'the server needs a valid token, or a delivery to a webhook a valid signature',
  E_FORBIDDEN: 'the token, the origin or the host is not allowed to do that',
  E_NO_SUCH_PATH: 'the server has no such path, or not with this method (status 405)',
  E_TOO_LARGE: 'the request is too large',
  E_TOO_MANY_REQUESTS: 'too many requests in a short time',
  E_SERVER: 'the server sent an unexpected answer, or none runs here',
  E_UNREACHABLE: 'the server is unreachable: nobody listens there, or it did not answer',
  E_INTERNAL: 'a bug in Coppice',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export class CoppiceError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'CoppiceError';
    this.code = code;
    this.hint = options.hint ?? null;
    this.retryable = options.retryable ?? false;
  }
}

/** The message of an error, with its hint. */
export function errorText(error: unknown): string {
  if (error instanceof CoppiceError && error.hint !== null) return `${error.message}. ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

/** What `read` returns; `otherwise` where it throws, whatever the reason. */
export function orElse<Value, Other>(read: () => Value, otherwise: Other): Value | Other {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
