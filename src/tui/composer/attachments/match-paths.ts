/**
 * The paths that a person may mean, best first: those whose name begins with the query, then those that begin with it as a path, contain it
 * in the name, contain it anywhere, and at last those that have its letters in this order. Shorter paths first. Without a query: what lies
 * directly in the folder.
 */
export function matchPaths(paths: readonly string[], query: string, most: number): readonly string[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return sorted(paths.filter((path) => nameStart(path) === 0)).slice(0, most);
  const ranks: string[][] = [[], [], [], []];
  for (const path of paths) {
    const rank = rankOf(path.toLowerCase(), wanted);
    if (rank !== null) ranks[rank]?.push(path);
  }
  const found = ranks.flatMap(sorted).slice(0, most);
  if (found.length > 0) return found;
  return sorted(paths.filter((path) => hasLetters(path.toLowerCase(), wanted))).slice(0, most);
}

function rankOf(path: string, wanted: string): 0 | 1 | 2 | 3 | null {
  const at = path.lastIndexOf(wanted);
  if (at < 0) return null;
  const name = nameStart(path);
  if (path.startsWith(wanted, name)) return 0;
  if (path.startsWith(wanted)) return 1;
  return at >= name ? 2 : 3;
}

/** Where the name begins; a folder's ends with `/`. */
function nameStart(path: string): number {
  return path.lastIndexOf('/', path.length - 2) + 1;
}

function hasLetters(path: string, wanted: string): boolean {
  let at = -1;
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

function sorted(paths: readonly string[]): readonly string[] {
  return [...paths].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
