import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { storableJson } from '../../records/text/json-text.ts';
import { plainHeaders } from '../provider/http-fetch.ts';
import { withoutFields } from '../provider/quirks.ts';

export interface PackageRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Requests as a provider package makes them, which knows the options of each model; they are not sent, and its reading of answers is not used. */
export class PackageRequests {
  readonly #model: LanguageModelV4;
  readonly #made = new WeakMap<AbortSignal, (request: PackageRequest) => void>();

  /** `omit`: paths of fields that the server does not take. */
  constructor(open: (fetch: typeof globalThis.fetch) => LanguageModelV4, omit: readonly string[]) {
    this.#model = open((input, init) => {
      const { headers, body, signal } = init ?? {};
      const take = signal == null ? undefined : this.#made.get(signal);
      take?.({ url: String(input), headers: plainHeaders(headers), body: bodyFor(String(body), omit) });
      return new Promise(() => undefined);
    });
  }

  /** Rejects with what the package throws. */
  made(options: Omit<LanguageModelV4CallOptions, 'abortSignal'>): Promise<PackageRequest> {
    const { signal: abortSignal } = new AbortController();
    return new Promise((resolve, reject) => {
      this.#made.set(abortSignal, resolve);
      this.#model.doStream({ ...options, abortSignal }).then(undefined, reject);
    });
  }
}

/** No server accepts half of a surrogate pair, which JSON writes as an escape. */
function bodyFor(body: string, omit: readonly string[]): string {
  if (omit.length === 0 && !body.includes('\\ud')) return body;
  return JSON.stringify(storableJson(withoutFields(JSON.parse(body), omit)));
}
