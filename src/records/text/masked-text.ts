/** What differs between two runs of the same work, and says nothing. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b\d{4}-\d\d-\d\d(?:T|,? )\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, '<time>'],
  [/\b[0-9a-f]{8}\b/g, '<id>'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b/g, '<duration>'],
  [/\b\d+ tokens\b/g, '<count> tokens'],
];

/** The text without the folders, ids, times, durations and token counts of one run. */
export function maskedText(text: string, folders: readonly string[]): string {
  let masked = text;
  for (const folder of folders) if (folder.length > 1) masked = masked.replaceAll(folder, '<folder>');
  for (const [pattern, mask] of MASKS) masked = masked.replaceAll(pattern, mask);
  return masked;
}
