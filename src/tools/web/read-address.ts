import type { AllowedHosts } from '../../processes/hosts/allowed-hosts.ts';
import type { ToolContext } from '../../records/tool.ts';
import { inThread } from './page-thread.ts';
import { RefusedAddressError, webAddress } from './web-address.ts';
import { type Lookup, type WebAnswer, webRequest } from './web-request.ts';

/** Maximum bytes of robots.txt. */
const ROBOTS_BYTES = 500 * 1024;
const REDIRECTS_MAX = 5;

/** The name that rules in robots.txt refer to. */
const AGENT = 'Coppice';
const HEADERS = {
  'user-agent': `Mozilla/5.0 (compatible; ${AGENT}; an agent asks on behalf of a person)`,
  accept:
    'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.5',
};
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface WebReach {
  /** Hosts that may be private. */
  readonly known: AllowedHosts;
  /** Whether robots.txt is obeyed. */
  readonly robots: boolean;
  /** Of an answer, decompressed; the rest is not read. */
  readonly bytes_max: number;
  readonly lookup?: Lookup;
}

export type Reading =
  | { readonly type: 'answer'; readonly url: URL; readonly answer: WebAnswer }
  /** A redirect to an address that the rules must judge anew. */
  | { readonly type: 'elsewhere'; readonly from: URL; readonly to: URL };

/**
 * Reads an address. Follows a redirect only within its host, and only if the rules allow the target or judge it by the same rule as the first address;
 * any other redirect is returned for the model to request. Throws RefusedAddressError, network errors, and the signal's reason.
 */
export async function readAddress(
  start: URL,
  reach: WebReach,
  judge: NonNullable<ToolContext['judge']>,
  signal: AbortSignal,
  tree: string,
): Promise<Reading> {
  const asked = judge(start.href);
  const passed = new Set<string>();
  for (let url = start; ; ) {
    if (reach.robots) await refuseByRobots(url, reach, signal, tree);
    const answer = await get(url, reach, signal, reach.bytes_max);
    const to = REDIRECTS.has(answer.status) ? answer.headers.location : undefined;
    if (to === undefined) return { type: 'answer', url, answer };
    const next = webAddress(to, url.href);
    const { verdict, rule } = judge(next.href);
    const as_asked = verdict === 'allow' || (verdict === asked.verdict && rule === asked.rule);
    if (!isSameSite(url, next) || verdict === 'deny' || !as_asked)
      return { type: 'elsewhere', from: url, to: next };
    passed.add(url.href);
    if (passed.has(next.href) || passed.size > REDIRECTS_MAX)
      throw new Error(`${start.href} redirects in a loop, or more than ${REDIRECTS_MAX} times`);
    url = next;
  }
}

/** Whether host and port are the same; an upgrade from http to https counts as the same. */
function isSameSite(from: URL, to: URL): boolean {
  if (from.hostname !== to.hostname) return false;
  const upgraded =
    from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return upgraded || from.origin === to.origin;
}

function get(url: URL, reach: WebReach, signal: AbortSignal, bytes_max: number): Promise<WebAnswer> {
  const { known, lookup } = reach;
  return webRequest({ url, headers: HEADERS, signal, known, bytes_max, ...(lookup && { lookup }) });
}

/** Follows RFC 9309: without a robots.txt everything is allowed, and if the server fails nothing is. */
async function refuseByRobots(url: URL, reach: WebReach, signal: AbortSignal, tree: string): Promise<void> {
  if (url.pathname === '/robots.txt') return;
  let file = new URL('/robots.txt', url);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const { status, headers, bytes } = await get(file, reach, signal, ROBOTS_BYTES);
    if (REDIRECTS.has(status) && headers.location !== undefined) {
      const next = webAddress(headers.location, file.href);
      // Another host was not allowed by anybody: the file counts as missing.
      if (!isSameSite(file, next)) return;
      file = next;
      continue;
    }
    if (status >= 500)
      throw new RefusedAddressError(
        `${url.host} cannot tell what it allows programs: its robots.txt answers ${status}${WAY_OUT}`,
      );
    if (status >= 400) return;
    const text = bytes.toString('utf8');
    const outcome = await inThread({ type: 'robots', text, url: url.href, agent: AGENT }, tree, signal);
    if (outcome.type === 'robots' && outcome.allowed) return;
    const why =
      outcome.type === 'failed' ? `cannot be read: ${outcome.why}` : 'asks programs not to read this page';
    throw new RefusedAddressError(`the robots.txt of ${url.host} ${why}${WAY_OUT}`);
  }
}

const WAY_OUT = ' (a person can set web.robots to false)';
