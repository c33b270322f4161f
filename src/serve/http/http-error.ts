import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorDocument, errorJson } from '../../documents/error-json.ts';

const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  E_UNAUTHORIZED: 401,
  E_FORBIDDEN: 403,
  E_NO_SUCH_PATH: 404,
  E_AGENT_DEAD: 409,
  E_AGENT_NOT_WORKING: 409,
  E_RUN_FINISHED: 409,
  E_ASK_ANSWERED: 409,
  E_ASK_CHANGED: 409,
  E_JOB_EXISTS: 409,
  E_JOB_AT_WORK: 409,
  E_REFUSED: 409,
  E_BUSY: 409,
  E_TOO_LARGE: 413,
  E_TOO_MANY_REQUESTS: 429,
  E_CLOSED: 503,
  E_INTERNAL: 500,
};

/** Converts an error to the API's answer. Details of internal errors (500) are only in the log. */
export function errorAnswer(error: unknown): {
  readonly status: ContentfulStatusCode;
  readonly document: object;
} {
  const report = errorJson(error);
  const status = statusOf(report);
  const told = status === 500 ? hidden(report) : report;
  return { status, document: { schema: 'coppice/error/v1', error: told } };
}

function statusOf({ code, retryable }: ErrorDocument): ContentfulStatusCode {
  if (code.endsWith('_NOT_FOUND')) return 404;
  if (code.endsWith('_AMBIGUOUS')) return 409;
  return STATUS[code] ?? (retryable ? 503 : code.startsWith('E_DB_') ? 503 : 400);
}

function hidden({ code, retryable }: ErrorDocument): ErrorDocument {
  return { code, message: 'the server failed; its log says why', hint: null, retryable };
}
