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
