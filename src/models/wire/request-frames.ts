import { randomUUID } from 'node:crypto';
import type { RequestOptions } from 'node:http';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ToolSpec } from '../../records/tool.ts';
import type { ModelRequest } from '../model.ts';
import { callOptions } from '../provider/call-options.ts';
import { httpAddress, plainHeaders } from '../provider/http-fetch.ts';

/** All of a request but its messages: where it goes, its headers, and its body around them. */
export interface RequestFrame {
  readonly url: string;
  readonly address: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  /** Before the messages and behind them, each cut where the cache key stands. */
  readonly head: readonly string[];
  readonly tail: readonly string[];
}

/** In pieces: what relatives share is not copied for each of them. */
export function bodyOf(
  { head, tail }: RequestFrame,
  shared: Buffer | null,
  messages: string,
  cache_key = '',
): readonly (string | Buffer)[] {
  const key = JSON.stringify(cache_key).slice(1, -1);
  const rest = messages + tail.join(key);
  return shared === null ? [head.join(key) + rest] : [head.join(key), shared, rest];
}

/** Nobody else writes these. */
const MARK = `messages-${randomUUID()}`;
const KEY_MARK = `key-${randomUUID()}`;
const KEPT_MAX = 64;

interface Made {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Requests as a provider package makes them: what a model is asked with (limits, thinking, headers, tools) is the package's knowledge.
 * One with a mark for its messages is made of each kind, and never sent; what is written around the mark serves all others.
 */
export class RequestFrames {
  readonly #model: LanguageModelV4;
  readonly #userMessage: (text: string) => string;
  readonly #made = new WeakMap<AbortSignal, (made: Made) => void>();
  /** Oldest first. */
  readonly #frames = new Map<string, RequestFrame>();
  readonly #tools = new WeakMap<ToolSpec, number>();
  #count = 0;

  constructor(
    open: (fetch: typeof globalThis.fetch) => LanguageModelV4,
    userMessage: (text: string) => string,
  ) {
    this.#userMessage = userMessage;
    this.#model = open((input, init) => {
      const { headers, body, signal } = init ?? {};
      const made = signal == null ? undefined : this.#made.get(signal);
      made?.({ url: String(input), headers: plainHeaders(headers), body: String(body) });
      // Nobody awaits what the package would make of an answer.
      return new Promise(() => undefined);
    });
  }

  /** Rejects with what the package throws. */
  of(request: ModelRequest, summarised: boolean): RequestFrame | Promise<RequestFrame> {
    const { system, tools, thinking, cache_key } = request;
    const keyed = cache_key !== undefined;
    const key = `${tools.map((tool) => this.#number(tool))} ${thinking} ${summarised} ${keyed} ${system}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    const marked = keyed ? { ...request, cache_key: KEY_MARK } : request;
    return this.#make(key, callOptions(marked, summarised), system);
  }

  #number(tool: ToolSpec): number {
    let number = this.#tools.get(tool);
    if (number === undefined) {
      this.#count += 1;
      number = this.#count;
      this.#tools.set(tool, number);
    }
    return number;
  }

  async #make(
    key: string,
    options: Omit<LanguageModelV4CallOptions, 'prompt'>,
    system: string,
  ): Promise<RequestFrame> {
    const { signal: abortSignal } = new AbortController();
    const { url, headers, body } = await new Promise<Made>((resolve, reject) => {
      this.#made.set(abortSignal, resolve);
      const user = { role: 'user' as const, content: [{ type: 'text' as const, text: MARK }] };
      const prompt = system === '' ? [user] : [{ role: 'system' as const, content: system }, user];
      this.#model.doStream({ ...options, prompt, abortSignal }).then(undefined, reject);
    });
    const message = this.#userMessage(MARK);
    const at = body.indexOf(message);
    if (at < 0) throw new TypeError('the provider package writes messages in an unexpected shape');
    const frame = {
      url,
      address: httpAddress(url),
      headers,
      head: body.slice(0, at).split(KEY_MARK),
      tail: body.slice(at + message.length).split(KEY_MARK),
    };
    this.#frames.set(key, frame);
    const [oldest] = this.#frames.keys();
    if (this.#frames.size > KEPT_MAX && oldest !== undefined) this.#frames.delete(oldest);
    return frame;
  }
}
