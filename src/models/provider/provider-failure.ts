import { APICallError } from '@ai-sdk/provider';
import type { Failure, FailureKind } from '../../records/agent/failure.ts';
import { describeMessage, type PromptMessage } from '../../records/conversation/prompt-message.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { hideSecrets } from '../../records/text/hide-secrets.ts';
import type { ModelOutcome } from '../model.ts';
import { refusedMessage } from '../refusals/refused-message.ts';
import { retryAfter, waitIn } from '../refusals/retry-after.ts';
import { saidIn } from '../refusals/said-in.ts';
import { closingIn, isUsedUp, NO_SERVICE } from '../refusals/spent.ts';
import { ConnectionError, publicAddress, UnusableAnswer } from './http-fetch.ts';

const OVERFLOW =
  /context.{0,20}(length|window|limit)|too many tokens|prompt is too long|maximum context|exceeds the maximum number of tokens/i;
/** Out of credit, sent with many statuses (429, 402, 400, 403); waiting does not help. Gemini's rate limit text, "exceeded your current quota", must not match. */
const NO_CREDIT =
  /insufficient_quota|insufficient[ _](?:credit|balance|funds)|credit balance is too low|billing_hard_limit/i;
/** The model does not exist at the provider, or no longer, in the words of Anthropic, OpenAI, Azure, Google, Groq, DeepSeek, Ollama, OpenRouter and vLLM. */
const NO_MODEL =
  /model_not_found|not_found_error[\s\S]*\bmodel\b|\bmodels?\b[\s\S]{0,120}\b(?:not found|not exist|is not a valid model|is not available|decommissioned|deprecated|retired|no longer (?:available|supported))|\b(?:no such|unknown|invalid) model\b|not a valid model id|model_not_supported/i;
/** The model or its server takes no tools, or not these. */
const NO_TOOLS =
  /(?:does not|doesn't|do not) support (?:tools?|functions?|function calling|tool)|enable-auto-tool-choice|tool[- _]call[- _]parser|no endpoints found that support tool|tools? (?:is|are) not supported|invalid (?:schema|tool|function)|tools?[.[]\d|function_declarations|functionDeclarations|input_schema/i;
/** What is sent is larger than the account may send in a minute, or with its plan: no wait helps. */
const TOO_LARGE = /request too large|must be reduced|long context requests/i;
/** A gateway's filter (OpenRouter), with the status of a refused key. */
const MODERATED = /moderation|flagged/i;
/** Google answers a wrong key with 400, Anthropic one of an account that it has closed. */
const BAD_KEY =
  /API_KEY_INVALID|API key not valid|\b(?:organization|account) (?:is|was|has been) (?:disabled|deactivated|suspended)/i;
/** Part of a conversation that the server does not know (Responses API), with the status of a model that is gone. */
const NO_ITEM = /\bitems?\b/i;
/** A redirect without an address, a method, a proxy, a protocol or headers are refused: no message of the conversation is meant. */
const FOREIGN = /^(?:3\d\d|405|406|407|411|415|421|426|428|431|451)$/;
/** The address of an endpoint at a server, without a version. */
const BARE = /^\w+:\/\/[^/]+\/(?:chat|messages|responses)\b/;
const MAX_TEXT = 500;

type Failed = Extract<ModelOutcome, { type: 'failure' }>;

export interface FailureTerms {
  /** Secrets to remove from errors. */
  readonly secrets: readonly string[];
  /** The environment variable that holds the key. */
  readonly key_env?: string | null;
  /** The messages of the request. */
  readonly messages?: readonly PromptMessage[];
}

/** Classifies an error of a request. Never contains a key or a header. */
export function providerFailure(
  error: unknown,
  { secrets, key_env = null, messages = [] }: FailureTerms,
): Failed {
  if (APICallError.isInstance(error)) return callFailure(error, { secrets, key_env, messages });
  const text = error instanceof Error ? error.message : (saidIn(error) ?? 'unknown error');
  if (error instanceof UnusableAnswer) return failure('network', text, false, secrets);
  if (error instanceof ConnectionError || isConnectionError(error)) {
    const failed = failure('network', text, true, secrets);
    const is_unreached = error instanceof ConnectionError && error.reason === 'unreached';
    return is_unreached ? { ...failed, closes: NO_SERVICE } : failed;
  }
  if (error instanceof ObjectFault) return failure('internal', text, true, secrets);
  if (isOurs(error)) return failure('internal', `a fault in Coppice or its packages: ${text}`, true, secrets);
  const said = `${text} ${codeOf(error)}`;
  const wish = waitIn(text, Date.now());
  if (NO_CREDIT.test(said)) return closing(failure('no_credit', noCredit(text), true, secrets), said, wish);
  if (isUsedUp(said)) return closing(failure('rate_limit', text, true, secrets), said, wish);
  if (OVERFLOW.test(text)) return failure('context_overflow', text, false, secrets);
  // Errors in a stream report overload only as text.
  if (/overloaded|unavailable|internal server/i.test(text))
    return closing(failure('overloaded', text, true, secrets), said, wish);
  return failure('network', `the answer was broken: ${text}`, true, secrets);
}

function callFailure(error: APICallError, { secrets, key_env, messages }: Required<FailureTerms>): Failed {
  const status = error.statusCode;
  const said = status === undefined ? error.message : `${status}: ${error.message}`;
  const kind =
    status === undefined ? 'network' : kindOf(status, `${error.message} ${error.responseBody ?? ''}`);
  const is_foreign = kind === 'network' && FOREIGN.test(String(status));
  const which = key_env === null ? '' : ` (the key comes from ${key_env})`;
  const text =
    kind === 'auth'
      ? said + which
      : kind === 'no_credit'
        ? noCredit(said) + which
        : kind === 'no_model'
          ? `the provider does not have this model, or not for this key, or not at this address (${publicAddress(error.url)}${BARE.test(error.url) ? '; most servers have it below /v1' : ''}): ${said}`
          : is_foreign
            ? `${said}: is ${publicAddress(error.url)} the address of this API, and may it be asked from here?`
            : said;
  const retryable = !is_foreign && ['rate_limit', 'overloaded', 'network', 'no_credit'].includes(kind);
  const wish = retryAfter(error.responseHeaders ?? {}, Date.now(), error.responseBody || error.message);
  const index =
    kind === 'bad_request' ? refusedMessage(placesOf(error), error.requestBodyValues, messages) : -1;
  const refused = messages[index];
  const { responseBody = '' } = error;
  const result = failure(
    kind,
    refused === undefined ? text : `${text} (it is about ${describeMessage(refused)})`,
    retryable,
    secrets,
    refused === undefined ? {} : { behind_refused: messages.length - 1 - index },
  );
  return closing(result, `${error.message} ${responseBody}`, wish, status);
}

/** The failure with what it says of requests to come. */
function closing(result: Failed, said: string, wish: number | null, status?: number): Failed {
  const closes = closingIn(result.failure, said, wish, status);
  return {
    ...result,
    ...(wish === null ? {} : { retry_after_ms: wish }),
    ...(closes === null ? {} : { closes }),
  };
}

function kindOf(status: number, text: string): FailureKind {
  if ((status >= 200 && status < 300) || FOREIGN.test(String(status))) return 'network';
  if (status === 402 || (status < 500 && NO_CREDIT.test(text))) return 'no_credit';
  if (status === 403 && MODERATED.test(text)) return 'refused';
  if (status === 400 && isUsedUp(text)) return 'rate_limit';
  if (status === 401 || status === 403 || BAD_KEY.test(text)) return 'auth';
  if (status === 429) return TOO_LARGE.test(text) ? 'context_overflow' : 'rate_limit';
  if (status === 408 || status === 409 || status >= 500) return 'overloaded';
  if (OVERFLOW.test(text) || status === 413) return 'context_overflow';
  if ((status === 404 || status === 400 || status === 422) && NO_MODEL.test(text)) return 'no_model';
  if (NO_TOOLS.test(text)) return 'no_tools';
  // No message of a conversation is meant: all others would get the same.
  return status === 410 || (status === 404 && !NO_ITEM.test(text)) ? 'no_model' : 'bad_request';
}

function noCredit(said: string): string {
  return `the account has no credit left: ${said}`;
}

function failure(
  kind: FailureKind,
  text: string,
  retryable: boolean,
  secrets: readonly string[],
  place: Pick<Failure, 'behind_refused'> = {},
): Failed {
  const safe = hideSecrets(text, secrets, '[key]');
  const clean = cutText(safe, MAX_TEXT, '…');
  const said: Failure = { kind, error: clean, retryable, ...place };
  return { type: 'failure', failure: said };
}

/** A fault in a model object that a program brought: told as its own, and no more retried than ours. */
export class ObjectFault extends Error {}

/** JavaScript's own errors are bugs in this process, not network errors, so the gate must not retry them. */
export function isOurs(error: unknown): error is Error {
  return [RangeError, TypeError, ReferenceError, EvalError].some((type) => error instanceof type);
}

/** The message and the `param` field of an error: some providers name the location in one, some in the other. */
function placesOf({ message, responseBody = '' }: APICallError): string {
  return `${message} ${/"param"\s*:\s*"([^"]*)"/.exec(responseBody)?.[1] ?? ''}`;
}

function isConnectionError(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'].includes(
      (error as NodeJS.ErrnoException).code ?? '',
    )
  );
}

/** The code and type of an error in a stream, beside its message. */
function codeOf(error: unknown): string {
  const { code, type } = (error ?? {}) as { readonly code?: unknown; readonly type?: unknown };
  return `${String(code)} ${String(type)}`;
}
