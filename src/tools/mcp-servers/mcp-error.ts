import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { clean } from '../../render/clean.ts';

/** Maximum characters of one error message. */
const ERROR_MAX = 2_000;
const CAUSES_MAX = 5;

/** An error whose message is a sentence without its subject, the server: `ended with exit code 1`. */
export class McpError extends Error {
  override readonly name = 'McpError';
  /** Whether the server may have done what was requested. */
  readonly unknown_outcome: boolean;

  constructor(message: string, unknown_outcome = false) {
    super(message);
    this.unknown_outcome = unknown_outcome;
  }
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

/** The person has not logged in, or the login is no longer valid. */
export class NeedsLogin extends McpError {}

/** The message of an error and those of its causes, on one line. */
export function errorChainText(error: unknown): string {
  if (!(error instanceof Error)) return clean(String(error).slice(0, ERROR_MAX));
  const said: string[] = [];
  for (let one: unknown = error; one instanceof Error && said.length < CAUSES_MAX; one = causeOf(one)) {
    const text = one.message || String((one as NodeJS.ErrnoException).code ?? '');
    if (!said.some((before) => before.includes(text))) said.push(text.slice(0, ERROR_MAX));
  }
  return clean(said.join(': '));
}

function causeOf(error: Error): unknown {
  const { data } = error as { readonly data?: { readonly cause?: unknown } };
  return error.cause ?? data?.cause;
}

/** Whether the server is unreachable, or does not know the session any more (404, or 400 from many). */
export function isLost(error: unknown): boolean {
  return error instanceof TypeError || isSessionLost(error);
}

function isSessionLost(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** The call did not run, because the server does not know the session any more. */
export class SessionLost extends McpError {}

export function asMcpError(error: unknown, limit_ms: number): McpError {
  if (error instanceof McpError) return error;
  if (isTimeout(error))
    return new McpError(`gave neither a result nor a sign of progress within ${limit_ms / 1000} s`, true);
  if (error instanceof ProtocolError)
    return new McpError(`answered with error ${error.code}: ${errorChainText(error)}`);
  if (isSessionLost(error)) return new SessionLost(`has lost the session: ${errorChainText(error)}`);
  if (error instanceof SdkHttpError && isRefusal(error.status))
    return new McpError(`refused the request with status ${error.status}: ${errorChainText(error)}`);
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return new McpError(`gave an answer that violates the protocol: ${errorChainText(error)}`, true);
  return new McpError(`could not be asked: ${errorChainText(error)}`, !UNREACHED.test(errorChainText(error)));
}

/** Nothing was sent. */
const UNREACHED = /\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b/;

/** Statuses after which nothing has run; after 408, and after most errors of servers and proxies, something may have. */
function isRefusal(status = 0): boolean {
  return (status >= 400 && status < 500 && status !== 408) || status === 501 || status === 503;
}
