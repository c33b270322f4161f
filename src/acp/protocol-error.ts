import { RequestError } from '@agentclientprotocol/sdk';
import { errorJson } from '../documents/error-json.ts';
import type { Failure } from '../records/agent/failure.ts';
import type { ErrorCode } from '../records/coppice-error.ts';
import type { Outcome } from '../records/run/outcome.ts';

/** Errors that the person or the editor caused; all others are internal. */
const CALLER_ERRORS: ReadonlySet<string> = new Set<ErrorCode>([
  'E_USAGE',
  'E_CONFIG',
  'E_AGENT_DEAD',
  'E_REFUSED',
  'E_INVALID_ARGUMENT',
  'E_MODEL_UNKNOWN',
  'E_NO_PRICE',
  'E_NO_FOLDER',
  'E_RULES',
  'E_SCRIPT',
]);

/** Converts an error to one of the protocol; `data` has its code, its hint and whether a retry may help. */
export function protocolError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const { message, ...data } = errorJson(error);
  const { code, hint } = data;
  const kind = code === 'E_NO_KEY' ? AUTH_REQUIRED : CALLER_ERRORS.has(code) ? INVALID_PARAMS : INTERNAL;
  return new RequestError(kind, hint === null ? message : `${message}\n${hint}`, data);
}

/** The error that answers a prompt whose turn failed. */
export function failureError({ kind, error, retryable }: Failure, told: Outcome): RequestError {
  const auth = kind === 'auth' || kind === 'no_model';
  const next = auth ? '\ncoppice doctor names the key; coppice setup connects another model.' : '';
  return new RequestError(auth ? AUTH_REQUIRED : INTERNAL, `${error}${next}`, { kind, retryable, ...told });
}

export function invalidParams(message: string): RequestError {
  return new RequestError(INVALID_PARAMS, message);
}

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const AUTH_REQUIRED = -32000;
