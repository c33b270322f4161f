/** The shortest prefixes, of at least four characters, that are unique among these ids. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const short = new Map<string, string>();
  const sorted = [...ids].sort();
  const common = (a: string, b: string): number => {
    let length = 0;
    while (length < a.length && a[length] === b[length]) length += 1;
    return length;
  };
  sorted.forEach((id, index) => {
    const before = index === 0 ? 0 : common(id, sorted[index - 1] as string);
    const after = index === sorted.length - 1 ? 0 : common(id, sorted[index + 1] as string);
    short.set(id, id.slice(0, Math.max(4, before + 1, after + 1)));
  });
  return short;
}
