import { RequestError } from '@agentclientprotocol/sdk';
import type { Failure } from '../records/agent/failure.ts';
import { CoppiceError, type ErrorCode } from '../records/coppice-error.ts';
import type { Outcome } from '../records/run/outcome.ts';
import { StoreError } from '../store/store-error.ts';

/** Errors that the person or the editor caused; all others are internal. */
const CALLER_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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
  if (error instanceof CoppiceError) {
    const { code, message, hint, retryable } = error;
    const text = hint === null ? message : `${message}\n${hint}`;
    const data = { code, hint, retryable };
    if (code === 'E_NO_KEY') return new RequestError(AUTH_REQUIRED, text, data);
    return new RequestError(CALLER_ERRORS.has(code) ? INVALID_PARAMS : INTERNAL, text, data);
  }
  if (error instanceof StoreError)
    return new RequestError(INTERNAL, error.message, { code: error.code, retryable: error.retryable });
  const text = error instanceof Error ? error.message : String(error);
  return new RequestError(INTERNAL, text, { code: 'E_INTERNAL' });
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
