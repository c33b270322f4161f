import type { Verdict } from '../records/tool.ts';

/**
 * Matches without regular expressions, in time linear in practice and quadratic at worst: patterns and subjects
 * come from people and models, and a backtracking engine can be made to hang. `*` matches any text.
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

function matchesParts(patterns: readonly string[], parts: readonly string[]): boolean {
  // Row by row: can the first `p` patterns match the first `n` parts?
  let row = parts.map(() => false);
  row = [true, ...row];
  for (const pattern of patterns) {
    const next = [pattern === '**' && row[0]!];
    for (const [n, part] of parts.entries()) {
      next.push(pattern === '**' ? row[n + 1]! || next[n]! : row[n]! && matchesText(pattern, part));
    }
    row = next;
  }
  return row[parts.length]!;
}

/**
 * Matches a path: `*` within one component, `**` across any number of components. A pattern without `/` is matched against
 * the last component, at any depth. `src/**` also matches `src` itself.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const parts = path.split('/');
  if (!pattern.includes('/')) return pattern === '**' || matchesText(pattern, parts.at(-1)!);
  return matchesParts(pattern.replace(/^\.\//, '').split('/'), parts);
}

/** The parts of `https://*.example.org:8443/docs/*`; of them a pattern needs only the host. */
const URL_PATTERN =
  /^(?:(\*|https?):\/\/)?(\*|(?:\*\.)?[^\s/?#@:*[\]]+|\[[\da-f:.]+\])(?::(\d+|\*))?(\/.*)?$/is;

/** What is wrong with a pattern of addresses; null: nothing. */
export function urlPatternFault(pattern: string): string | null {
  if (pattern === '' || URL_PATTERN.test(pattern)) return null;
  return 'write an address, for example https://docs.example.org/*, or a host: docs.example.org, *.example.org';
}

/**
 * Matches an address in its canonical form part by part, so that `*` in a path never reaches into the host, nor the other way round. `*.example.org` is every
 * name below. A pattern without a scheme means both, one without a path all of the host. Without a port, allow patterns mean the usual one, deny and ask
 * patterns any; those also ignore case in paths and the scheme, for they are about the place.
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

/** Servers take `%61` for `a`. */
function decoded(path: string): string {
  return path.replaceAll(/%([2-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
