import { RequestError } from '@agentclientprotocol/sdk';
import type { FailureKind } from '../../records/agent/failure.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { hideSecrets } from '../../records/text/hide-secrets.ts';
import type { ModelOutcome } from '../model.ts';

/** An error whose message is a sentence for people. */
export class AcpError extends Error {
  override readonly name = 'AcpError';
  readonly kind: FailureKind;
  readonly retryable: boolean;

  constructor(kind: FailureKind, message: string, retryable: boolean) {
    super(message);
    this.kind = kind;
    this.retryable = retryable;
  }
}

const AUTH_REQUIRED = -32000;
const MAX_TEXT = 1000;
const OVERFLOW = /context.{0,20}(length|window|limit)|too many tokens|prompt is too long|maximum context/i;
const AUTH = /auth(entication|orization)?[ _](is )?(required|failed|error)|invalid api key|\b401\b/i;
const RATE_LIMIT = /rate.?limit|too many requests|\b429\b|quota/i;
const OVERLOADED = /overloaded|unavailable|\b(500|502|503|529)\b/i;

/** Classifies the error of a prompt. `login`: how to log in to the program. `secrets` are removed from the text. */
export function acpFailure(
  error: unknown,
  login: string,
  secrets: readonly string[],
  partial: string,
): Extract<ModelOutcome, { type: 'failure' }> {
  const { kind, text, retryable } = classify(error, login);
  const safe = hideSecrets(text, secrets, '[key]');
  const clean = cutText(safe, MAX_TEXT, '…');
  const failure = { kind, error: clean, retryable };
  return partial === '' ? { type: 'failure', failure } : { type: 'failure', failure, partial };
}

function classify(
  error: unknown,
  login: string,
): { readonly kind: FailureKind; readonly text: string; readonly retryable: boolean } {
  if (error instanceof AcpError) return { kind: error.kind, text: error.message, retryable: error.retryable };
  if (!(error instanceof RequestError)) {
    const text = error instanceof Error ? error.message : String(error);
    return { kind: 'internal', text: `the agent program could not be asked: ${text}`, retryable: true };
  }
  const said = `the agent program answered with error ${error.code}: ${error.message}${detailsOf(error.data)}`;
  if (error.code === AUTH_REQUIRED || AUTH.test(said))
    return { kind: 'auth', text: `${said.replace(/\.$/, '')}. ${login}`, retryable: false };
  if (OVERFLOW.test(said)) return { kind: 'context_overflow', text: said, retryable: false };
  if (RATE_LIMIT.test(said)) return { kind: 'rate_limit', text: said, retryable: true };
  if (OVERLOADED.test(said)) return { kind: 'overloaded', text: said, retryable: true };
  return { kind: 'internal', text: said, retryable: true };
}

function detailsOf(data: unknown): string {
  if (data === undefined || data === null) return '';
  const details = (data as { readonly details?: unknown }).details;
  const text = typeof details === 'string' ? details : JSON.stringify(data);
  return text === undefined || text === '{}' ? '' : ` (${cutText(text, 500)})`;
}
