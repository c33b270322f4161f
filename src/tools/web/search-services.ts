import * as z from 'zod';
import type { WebRequest } from './web-request.ts';

/** One result of a search. */
export interface Found {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

type SearchRequest = Pick<WebRequest, 'url' | 'method' | 'headers' | 'body'>;

interface SearchService {
  /** Default base address; null if there is no public one. */
  readonly base: string | null;
  /** Default variable with the key; null if no key is needed. */
  readonly key_env: string | null;
  request(base: string, query: string, count: number, key: string): SearchRequest;
  /** Throws if the answer has another format. */
  found(answer: unknown): readonly Found[];
}

const JSON_ACCEPTED = { accept: 'application/json' };
const text = z.string().nullish();
const result = z
  .object({ title: text, url: z.string().min(1), content: text, description: text })
  .transform(({ title, url, content, description }) => ({
    ...{ title: title ?? '', url },
    text: content ?? description ?? '',
  }));
const listed = z.object({ results: z.array(result) });

function foundIn(answer: unknown): readonly Found[] {
  return listed.parse(answer).results;
}

/** An address below the base, which may have a path of its own. */
function below(base: string, path: string): URL {
  return new URL(path, base.endsWith('/') ? base : `${base}/`);
}

/** The services that `web_search` can ask, each implemented according to its documentation. */
export const SERVICES = {
  /** https://api-dashboard.search.brave.com/app/documentation/web-search */
  brave: {
    base: 'https://api.search.brave.com/res/v1',
    key_env: 'BRAVE_API_KEY',
    request(base, query, count, key) {
      const to = below(base, 'web/search');
      to.search = new URLSearchParams({ q: query, count: `${count}`, text_decorations: 'false' }).toString();
      return { url: to, method: 'GET', headers: { ...JSON_ACCEPTED, 'x-subscription-token': key } };
    },
    found: (answer) => z.object({ web: listed.nullish() }).parse(answer).web?.results ?? [],
  },
  /** https://docs.tavily.com/documentation/api-reference/endpoint/search */
  tavily: {
    base: 'https://api.tavily.com',
    key_env: 'TAVILY_API_KEY',
    request: (base, query, count, key) => ({
      url: below(base, 'search'),
      method: 'POST',
      headers: { ...JSON_ACCEPTED, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count }),
    }),
    found: foundIn,
  },
  /** https://docs.searxng.org/dev/search_api.html; the instance must have the format `json` enabled. */
  searxng: {
    base: null,
    key_env: null,
    request(base, query, _count, key) {
      const to = below(base, 'search');
      to.search = new URLSearchParams({ q: query, format: 'json' }).toString();
      const headers = key === '' ? JSON_ACCEPTED : { ...JSON_ACCEPTED, authorization: `Bearer ${key}` };
      return { url: to, method: 'GET', headers };
    },
    found: foundIn,
  },
} as const satisfies Record<string, SearchService>;

export type SearchServiceName = keyof typeof SERVICES;
