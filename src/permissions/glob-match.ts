import type { Verdict } from '../records/tool.ts';

/**
 * Matches a pattern in which `*` matches any text. Uses no regular expressions, because patterns and subjects come from people and models,
 * and a backtracking engine can be made to hang. Linear time in practice, quadratic in the worst case.
 */
export function matchesText(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let place = 0;
  while (at < text.length) {
    if (pattern[place] === '*') {
      star = place;
      place += 1;
      resume = at;
    } else if (place < pattern.length && pattern[place] === text[at]) {
      place += 1;
      at += 1;
    } else if (star !== -1) {
      place = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[place] === '*') place += 1;
  return place === pattern.length;
}

/** For each `n` from 0, whether the patterns match the first `n` parts. */
function matchedPrefixes(patterns: readonly string[], parts: readonly string[]): readonly boolean[] {
  // Dynamic programming by rows: can the first `p` patterns match the first `n` parts?
  let row = parts.map(() => false);
  row = [true, ...row];
  for (const pattern of patterns) {
    const next = [pattern === '**' && row[0]!];
    for (const [n, part] of parts.entries()) {
      next.push(pattern === '**' ? row[n + 1]! || next[n]! : row[n]! && matchesText(pattern, part));
    }
    row = next;
  }
  return row;
}

/**
 * Matches a path: `*` within one component, `**` across any number of components. A pattern without `/` is matched against
 * the last component, at any depth. `src/**`, or `src/`, also matches `src` itself.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const parts = path.split('/');
  if (!pattern.includes('/')) return pattern === '**' || matchesText(pattern, parts.at(-1)!);
  return matchedPrefixes(componentsOf(pattern), parts)[parts.length]!;
}

/** Whether the pattern matches the path or a folder that it lies in. Takes time in proportion to the path, which may have thousands of components. */
export function matchesWithin(pattern: string, path: string): boolean {
  const parts = path.split('/');
  if (!pattern.includes('/')) return pattern === '**' || parts.some((part) => matchesText(pattern, part));
  return matchedPrefixes(componentsOf(pattern), parts).slice(1).includes(true);
}

function componentsOf(pattern: string): readonly string[] {
  return pattern.replace(/^\.\//, '').replace(/\/$/, '/**').split('/');
}

/** Parts of a URL pattern such as `https://*.example.org:8443/docs/*`; only the host is required. */
const URL_PATTERN =
  /^(?:(\*|https?):\/\/)?(\*|(?:\*\.)?[^\s/?#@:*[\]]+|\[[\da-f:.]+\])(?::(\d+|\*))?(\/.*)?$/is;

/** Returns what is wrong with a URL pattern; null if it is valid or empty. */
export function urlPatternFault(pattern: string): string | null {
  if (pattern === '' || URL_PATTERN.test(pattern)) return null;
  return 'write an address, for example https://docs.example.org/*, or a host: docs.example.org, *.example.org';
}

/**
 * Matches a URL in canonical form part by part, so that `*` never matches across the boundary of host and path. `*.example.org` matches every subdomain.
 * Without a scheme a pattern matches http and https, without a path every path. Without a port, allow patterns match only the default port, deny and ask
 * patterns any. Deny and ask patterns also ignore the scheme and the case of paths.
 */
export function matchesUrl(pattern: string, address: string, verdict: Verdict): boolean {
  const url = URL.parse(address);
  const [whole, scheme = '*', written = '', port, path] = URL_PATTERN.exec(pattern) ?? [];
  if (url === null || whole === undefined) return false;
  const allows = verdict === 'allow';
  if (allows && scheme !== '*' && `${scheme.toLowerCase()}:` !== url.protocol) return false;
  if (!matchesHost(written, url.hostname)) return false;
  const usual = url.protocol === 'https:' ? '443' : '80';
  const asked = url.port || usual;
  if (port === undefined ? allows && asked !== usual : port !== '*' && port !== asked) return false;
  if (path === undefined || path === '/*') return true;
  const within = url.pathname + url.search;
  return allows
    ? matchesText(path, within)
    : matchesText(decoded(path).toLowerCase(), decoded(within).toLowerCase());
}

function matchesHost(written: string, host: string): boolean {
  if (written === '*') return true;
  const below = written.startsWith('*.');
  const name = URL.parse(`http://${below ? written.slice(2) : written}`)?.hostname.replace(/\.$/, '');
  if (name === undefined) return false;
  return below ? host.endsWith(`.${name}`) : host === name;
}

/** Decodes percent-encoded ASCII, since servers treat `%61` as `a`. */
function decoded(path: string): string {
  return path.replaceAll(/%([2-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
