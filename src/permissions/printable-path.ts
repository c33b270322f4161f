/** Control characters, line separators, and bidirectional controls. */
const unprintable = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Cs}]/u;
const unprintableAll = new RegExp(unprintable.source, 'gu');

/**
 * Formats a path for one line of a result. A path with line breaks or escape sequences is quoted and escaped, so that it cannot imitate another line.
 */
export function printablePath(path: string): string {
  if (!unprintable.test(path)) return path;
  const escaped = path
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(unprintableAll, (character) => {
      if (character === '\n') return '\\n';
      if (character === '\t') return '\\t';
      return `\\u{${character.codePointAt(0)!.toString(16)}}`;
    });
  return `"${escaped}"`;
}
