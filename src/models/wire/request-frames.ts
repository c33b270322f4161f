import { randomUUID } from 'node:crypto';
import type { RequestOptions } from 'node:http';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { keepNewest, keptIn } from '../../records/kept-in.ts';
import type { ToolSpec } from '../../records/tool.ts';
import type { ModelRequest } from '../model.ts';
import { callOptions } from '../provider/call-options.ts';
import { httpAddress } from '../provider/http-fetch.ts';
import type { Quirks } from '../provider/provider-config.ts';
import { PackageRequests } from './package-requests.ts';

/** A request without its messages: URL, headers, and the body around the messages. */
export interface RequestFrame {
  readonly url: string;
  readonly address: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  /** The body before and after the messages, each split at the cache key. */
  readonly head: readonly string[];
  readonly tail: readonly string[];
}

/** Returns the body in pieces, so that shared parts are not copied per agent. */
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

/** Placeholders that occur nowhere else. */
const MARK = `messages-${randomUUID()}`;
const KEY_MARK = `key-${randomUUID()}`;
const KEPT_MAX = 64;

/**
 * Frames of requests made by the provider packages, which know the options of each model (limits, thinking, headers, tools). For each set of options
 * one request with a placeholder for its messages is built and never sent; the text around the placeholder serves all further requests.
 */
export class RequestFrames {
  readonly #requests: PackageRequests;
  readonly #quirks: Quirks;
  readonly #userMessage: (text: string) => string;
  /** Oldest first. */
  readonly #frames = new Map<string, RequestFrame>();
  readonly #tools = new WeakMap<ToolSpec, number>();
  #count = 0;

  constructor(
    open: (fetch: typeof globalThis.fetch) => LanguageModelV4,
    userMessage: (text: string) => string,
    quirks: Quirks,
  ) {
    this.#userMessage = userMessage;
    this.#quirks = quirks;
    this.#requests = new PackageRequests(open, quirks.omit ?? []);
  }

  /** The frame for the options of a request, built on first use. Rejects with what the package throws. */
  of(request: ModelRequest): RequestFrame | Promise<RequestFrame> {
    const { system, tools, thinking, cache_key } = request;
    const keyed = cache_key !== undefined;
    const key = `${tools.map((tool) => this.#number(tool))} ${thinking} ${keyed} ${system}`;
    const known = this.#frames.get(key);
    if (known !== undefined) return known;
    const marked = keyed ? { ...request, cache_key: KEY_MARK } : request;
    return this.#make(key, callOptions(marked, this.#quirks), system);
  }

  #number(tool: ToolSpec): number {
    return keptIn(this.#tools, tool, () => ++this.#count);
  }

  async #make(
    key: string,
    options: Omit<LanguageModelV4CallOptions, 'prompt'>,
    system: string,
  ): Promise<RequestFrame> {
    const user = { role: 'user' as const, content: [{ type: 'text' as const, text: MARK }] };
    const prompt = system === '' ? [user] : [{ role: 'system' as const, content: system }, user];
    const { url, headers, body } = await this.#requests.made({ ...options, prompt });
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
    keepNewest(this.#frames, key, frame, KEPT_MAX);
    return frame;
  }
}
