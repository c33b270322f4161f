import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelOutcome } from '../../src/models/model.ts';
import { ask, connect, PROTOCOLS } from '../models/protocols.ts';

export type Protocol = (typeof PROTOCOLS)[number]['type'];
/** An event of a stream: its data, or raw text of the stream. */
export type Event = Readonly<Record<string, unknown>> | string;

/** What came out, without what cannot matter to an agent (ids, usage). */
export interface Read {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly (readonly [name: string, input: unknown])[];
  readonly finish?: string;
  readonly error?: string;
  readonly retryable?: boolean;
  readonly requests: number;
}

/** A server that answers each request with these bytes. */
export class RawServer {
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));
  #body: readonly Buffer[] = [];
  #type = 'text/event-stream';
  #requests = 0;

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#requests += 1;
    request.resume().on('end', async () => {
      response.writeHead(200, { 'content-type': this.#type });
      for (const piece of this.#body)
        await new Promise((sent) => response.write(piece, () => setImmediate(sent)));
      response.end();
    });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Reads the answer as agents do. `pieces`: in how many pieces the bytes arrive. */
  async read(
    protocol: Protocol,
    body: string,
    { type = 'text/event-stream', pieces = 1 }: { readonly type?: string; readonly pieces?: number } = {},
  ): Promise<Read> {
    const bytes = Buffer.from(body);
    const size = Math.ceil(bytes.length / pieces);
    this.#body = Array.from({ length: pieces }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    this.#type = type;
    this.#requests = 0;
    const { model, path } = PROTOCOLS.find((one) => one.type === protocol) as (typeof PROTOCOLS)[number];
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
    const opened = await connect(protocol, url, model, { attempts: 2 });
    return summary(await opened.stream(ask(), () => undefined), this.#requests);
  }
}

function summary(outcome: ModelOutcome, requests: number): Read {
  if (outcome.type === 'failure')
    return { error: outcome.failure.error, retryable: outcome.failure.retryable, requests };
  if (outcome.type !== 'answer') return { error: outcome.type, requests };
  const { parts } = outcome.content;
  const said = (type: 'text' | 'reasoning') =>
    parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
  return {
    text: said('text'),
    reasoning: said('reasoning'),
    calls: parts.flatMap((part) => (part.type === 'call' ? [[part.name, jsonOf(part.input)] as const] : [])),
    finish: outcome.finish,
    requests,
  };
}

function jsonOf(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** The stream of these events, with the names that Anthropic and OpenAI give them. */
export function streamOf(events: readonly Event[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return event;
      const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}
