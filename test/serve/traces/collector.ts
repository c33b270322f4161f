import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { closeLater } from '../../close-opened.ts';

/** The JSON schema of an OTLP 1.x request; strict, so that an unknown field is an error. */
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({
    arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }),
  }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const trace_id = z.string().regex(/^(?!0{32})[0-9a-f]{32}$/);
const span_id = z.string().regex(/^(?!0{16})[0-9a-f]{16}$/);
const nano = z.string().regex(/^\d{19}$/);
const span = z.strictObject({
  traceId: trace_id,
  spanId: span_id,
  parentSpanId: span_id.optional(),
  flags: z.int(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes,
  links: z.array(z.strictObject({ traceId: trace_id, spanId: span_id, attributes })),
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
});
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      schemaUrl: z.url(),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          schemaUrl: z.url(),
          spans: z.array(span),
        }),
      ),
    }),
  ),
});

export interface Received extends z.infer<typeof span> {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into values of every shape
  readonly values: Readonly<Record<string, any>>;
}

export interface Collector {
  url: string;
  /** All received spans, duplicates included. */
  readonly spans: Received[];
  readonly headers: Record<string, string | string[] | undefined>[];
  /** Answers for the next requests; once they are used up, 200. */
  readonly answers: { readonly status: number; readonly retry_after?: string }[];
  /** Called for each batch before it is answered; if it returns false, no answer is sent. */
  onBatch: () => boolean | Promise<boolean>;
}

/** A trace receiver that rejects everything outside the protocol. */
export async function startCollector(): Promise<Collector> {
  const spans: Received[] = [];
  const headers: Collector['headers'] = [];
  const answers: Collector['answers'] = [];
  const collector: Collector = { url: '', spans, headers, answers, onBatch: () => true };
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    incoming.on('end', async () => {
      headers.push(incoming.headers);
      const answer = answers.shift();
      if (answer !== undefined) {
        if (answer.retry_after !== undefined) outgoing.setHeader('retry-after', answer.retry_after);
        return outgoing.writeHead(answer.status).end();
      }
      const is_right =
        incoming.url === '/v1/traces' && incoming.headers['content-type'] === 'application/json';
      const read = is_right ? request.safeParse(JSON.parse(body)) : null;
      if (read?.success !== true) return outgoing.writeHead(400).end(String(read?.error));
      for (const { scopeSpans } of read.data.resourceSpans)
        for (const { spans: some } of scopeSpans)
          spans.push(...some.map((one) => ({ ...one, values: plain(one) })));
      if (!(await collector.onBatch())) return;
      return outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closeLater(async () => {
    server.close();
    server.closeAllConnections();
  });
  collector.url = `http://127.0.0.1:${port}`;
  return collector;
}

function plain(one: z.infer<typeof span>): Received['values'] {
  return Object.fromEntries(
    one.attributes.map(({ key, value: found }) => {
      assert.equal(Object.keys(found).length, 1);
      if ('arrayValue' in found) return [key, found.arrayValue.values.map(({ stringValue }) => stringValue)];
      return 'intValue' in found ? [key, Number(found.intValue)] : [key, Object.values(found)[0]];
    }),
  );
}
