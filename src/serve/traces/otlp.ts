import { fieldsOf } from '../../records/text/json-fields.ts';
import { jsonIn } from '../../records/text/json-text.ts';
/** The part of OTLP 1.x (JSON over HTTP) that spans need. */

import { post } from '../../channels/webhook/post.ts';
import { retryAfter } from '../../models/refusals/retry-after.ts';
import { SCHEMA_URL } from './conventions.ts';

export type Value = string | number | boolean | readonly string[];
/** Those that are undefined are left out. */
export type Attributes = Readonly<Record<string, Value | undefined>>;

export interface OtelSpan {
  /** 32 and 16 hexadecimal digits. */
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly kind: 'internal' | 'client';
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly links: readonly {
    readonly trace_id: string;
    readonly span_id: string;
    readonly attributes: Attributes;
  }[];
  /** Status message of a failed span; null if it did not fail. */
  readonly error: string | null;
}

const KIND = { internal: 1, client: 3 } as const;
const STATUS = { ok: 1, error: 2 } as const;
const FLAGS = 0x01;

/** An `ExportTraceServiceRequest`. */
export function exportRequest(spans: readonly OtelSpan[], resource: Attributes, version: string): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [
          { scope: { name: 'coppice', version }, spans: spans.map(spanJson), schemaUrl: SCHEMA_URL },
        ],
        schemaUrl: SCHEMA_URL,
      },
    ],
  };
}

function spanJson(span: OtelSpan): object {
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    ...(span.parent_id === null ? {} : { parentSpanId: span.parent_id }),
    flags: FLAGS,
    name: span.name,
    kind: KIND[span.kind],
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(span.end),
    attributes: keyValues(span.attributes),
    links: span.links.map(({ trace_id, span_id, attributes }) => ({
      traceId: trace_id,
      spanId: span_id,
      attributes: keyValues(attributes),
    })),
    status: span.error === null ? { code: STATUS.ok } : { code: STATUS.error, message: span.error },
  };
}

/** Returns a string: OTLP encodes 64-bit integers as strings in JSON. */
function nanoseconds(ms: number): string {
  return `${BigInt(Math.trunc(ms)) * 1_000_000n}`;
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'object') return { arrayValue: { values: value.map(anyValue) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

export type Sent =
  /** `rejected`: how many spans the receiver rejected, and why; null if none. */
  | { readonly type: 'taken'; readonly rejected: string | null }
  | { readonly type: 'retry'; readonly error: string; readonly after_ms: number | null }
  /** Permanent: a retry would fail, too. */
  | { readonly type: 'refused'; readonly error: string };

const TIME_LIMIT_MS = 10_000;
/** Status codes that the protocol declares retryable. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Sends an export request. Never rejects. */
export async function send(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: object,
  signal: AbortSignal,
): Promise<Sent> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)]);
  const types = { 'content-type': 'application/json', 'user-agent': 'coppice' };
  const answer = await post(url, { ...headers, ...types }, Buffer.from(JSON.stringify(body)), limit);
  if (answer.type === 'broken') return { type: 'retry', error: answer.reason, after_ms: null };
  const { status, text, retry_after } = answer;
  if (status >= 200 && status < 300) return { type: 'taken', rejected: rejectedOf(text) };
  const error = `it answered ${status}`;
  if (!RETRYABLE.has(status)) return { type: 'refused', error };
  return { type: 'retry', error, after_ms: retryAfter({ 'retry-after': retry_after }, Date.now()) };
}

function rejectedOf(text: string): string | null {
  const { rejectedSpans, errorMessage = '' } = fieldsOf(fieldsOf(jsonIn(text)).partialSuccess);
  return Number(rejectedSpans) > 0 ? `${rejectedSpans} spans: ${errorMessage}` : null;
}
