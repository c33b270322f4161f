// Proves what counts as a provider that takes no more requests, from bodies that providers and gateways really send, and when it opens again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { APICallError } from '@ai-sdk/provider';
import { providerFailure } from '../../src/models/provider/provider-failure.ts';

type Headers = Record<string, string>;

function failureOf(status: number, body: object | string, headers: Headers = {}) {
  const responseBody = typeof body === 'string' ? body : JSON.stringify(body);
  const message =
    typeof body === 'string' ? body : ((body as { error?: { message?: string } }).error?.message ?? '');
  const error = new APICallError({
    ...{ message, url: 'http://x', requestBodyValues: {}, statusCode: status },
    ...{ responseBody, responseHeaders: headers },
  });
  return providerFailure(error, { secrets: [] });
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });
const GONE = (status: number, body: object | string): [number, object | string, string, boolean, null] => [
  ...([status, body, 'model', true, null] as const),
];
const google = (quotas: readonly string[], retryDelay: string) => ({
  error: {
    ...{ code: 429, status: 'RESOURCE_EXHAUSTED' },
    message: 'You exceeded your current quota, please check your plan and billing details.',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: quotas.map((quotaId) => ({ quotaId, quotaDimensions: { model: 'gemini-2.5-flash' } })),
      },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
    ],
  },
});

describe('what closes a provider', () => {
  const cases: readonly [
    what: string,
    status: number,
    body: object | string,
    spent: string,
    of_model: boolean,
    wait_ms: number | null,
    headers?: Headers,
  ][] = [
    [
      'Anthropic with too much to do, once the tries have run out',
      529,
      said('Overloaded'),
      'service',
      false,
      null,
    ],
    [
      'OpenAI without credit',
      429,
      said('You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: null,
      }),
      'credit',
      false,
      null,
    ],
    [
      'a hard limit of OpenAI',
      400,
      said('Billing hard limit has been reached', { code: 'billing_hard_limit_reached' }),
      'credit',
      false,
      null,
    ],
    [
      'Anthropic without credit',
      400,
      said('Your credit balance is too low to access the Anthropic API.', { type: 'invalid_request_error' }),
      'credit',
      false,
      null,
    ],
    [
      'OpenRouter',
      402,
      said('This request requires more credits, or fewer max_tokens.', { code: 402 }),
      'credit',
      false,
      null,
    ],
    [
      'a long Retry-After',
      429,
      said('This request would exceed your account’s rate limit.'),
      'quota',
      false,
      3_600_000,
      { 'retry-after': '3600' },
    ],
    [
      'a long Retry-After of an outage',
      503,
      said('maintenance'),
      'quota',
      false,
      3_600_000,
      { 'retry-after': '3600' },
    ],
    [
      'a limit of a subscription',
      429,
      said('The usage limit has been reached', { type: 'usage_limit_reached', resets_in_seconds: 2 }),
      'quota',
      false,
      2_000,
    ],
    [
      'a day of Google',
      429,
      google(
        [
          'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
          'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
        ],
        '37s',
      ),
      'quota',
      true,
      null,
    ],
    [
      'a day of OpenRouter',
      429,
      said('Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000', { code: 429 }),
      'quota',
      false,
      null,
    ],
    [
      'a day of Groq',
      429,
      said(
        'Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99000. Please try again in 1h23m4.5s.',
      ),
      'quota',
      false,
      4_984_500,
    ],
    [
      'a refused key',
      401,
      said('Incorrect API key provided', { code: 'invalid_api_key' }),
      'key',
      false,
      null,
    ],
    [
      'a wrong key at Google',
      400,
      said('API key not valid. Please pass a valid API key.'),
      'key',
      false,
      null,
    ],
    ['a key without rights', 403, said('You do not have access to this model'), 'key', true, null],
    [
      'a deployment of Azure that is gone',
      ...GONE(404, said('The API deployment for this resource does not exist.')),
    ],
    ['a model of Azure that was retired', ...GONE(410, said('Gone', { code: 'ModelDeprecated' }))],
    ['a model of Groq that was retired', ...GONE(400, said('The model `x` has been decommissioned.'))],
    ['a model that DeepSeek does not know', ...GONE(400, said('Model Not Exist'))],
    ['an address without a server for it', ...GONE(404, '404 page not found')],
    [
      'an account that Anthropic has closed',
      400,
      said('This organization has been disabled.', { type: 'invalid_request_error' }),
      'key',
      false,
      null,
    ],
    [
      'a model that is gone',
      404,
      said('The model `x` does not exist', { code: 'model_not_found' }),
      'model',
      true,
      null,
    ],
  ];
  for (const [what, status, body, spent, of_model, wait_ms, headers] of cases)
    it(what, () => assert.deepEqual(failureOf(status, body, headers).closes, { spent, of_model, wait_ms }));

  it('an instant in the text of Anthropic, with status 400', () => {
    const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const text = `You have reached your specified API usage limits. You will regain access on ${day} at 00:00 UTC.`;
    const { failure, closes } = failureOf(400, said(text, { type: 'invalid_request_error' }));
    assert.equal(failure.kind, 'rate_limit');
    assert.ok(Math.abs(Date.now() + (closes?.wait_ms ?? 0) - Date.parse(`${day}T00:00Z`)) < 5_000);
  });

  it('an instant in seconds or milliseconds', () => {
    const at = Math.floor(Date.now() / 1000) + 7_200;
    for (const body of [
      said('The usage limit has been reached', { resets_at: at }),
      said(`Claude AI usage limit reached|${at}`),
      said('Rate limit exceeded: free-models-per-day', {
        metadata: { headers: { 'X-RateLimit-Reset': `${at}000` } },
      }),
    ]) {
      const wait_ms = failureOf(429, body).closes?.wait_ms ?? 0;
      assert.ok(Math.abs(wait_ms - 7_200_000) < 5_000, JSON.stringify(body));
    }
  });
});

describe('what does not close it', () => {
  const cases: readonly [
    what: string,
    status: number,
    body: object | string,
    kind: string,
    headers?: Headers,
  ][] = [
    [
      'a limit of a minute',
      429,
      said('Rate limit reached on requests per min (RPM): Limit 3. Please try again in 20s.'),
      'rate_limit',
    ],
    ['a short Retry-After', 429, said('slow down'), 'rate_limit', { 'retry-after': '2' }],
    ['a sloppy server without a word', 429, '', 'rate_limit'],
    [
      'a minute of Google',
      429,
      google(['GenerateRequestsPerMinutePerProjectPerModel-FreeTier'], '37s'),
      'rate_limit',
    ],
    [
      'a rolling day of OpenAI that opens soon',
      429,
      said('Rate limit reached on requests per day (RPD): Limit 200, Used 200. Please try again in 12s.'),
      'rate_limit',
    ],
    [
      'a request that is too large for the account',
      429,
      said(
        'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 60000. The input or output tokens must be reduced in order to run successfully.',
      ),
      'context_overflow',
    ],
    [
      'a message that a filter flagged',
      403,
      said('Your chosen model requires moderation and your input was flagged'),
      'refused',
    ],
    ['a server in trouble, perhaps because of this conversation', 503, said('Overloaded'), 'overloaded'],
    ['an instant that has passed', 429, said('slow down', { resets_at: 1_700_000_000 }), 'rate_limit'],
  ];
  for (const [what, status, body, kind, headers] of cases)
    it(what, () => {
      const { failure, closes } = failureOf(status, body, headers);
      assert.deepEqual([failure.kind, closes], [kind, undefined]);
    });
});
