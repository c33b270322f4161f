/**
 * Returns the paths that match a query, best first: those whose name begins with it, then those that begin with it as a path, contain it in the name, contain
 * it anywhere; if there are none, those that contain its letters in order. Within a rank, shorter paths come first. An empty query matches the direct
 * entries of the folder.
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

/** Offset at which the name begins; the path of a folder ends with `/`. */
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
