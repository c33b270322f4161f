/** What Telegram opens from a link, and nothing else: no scripts, no files of the reader's machine. */
const PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tg:']);
const LENGTH_MAX = 2_048;

/** Where a link of Markdown leads, as Telegram takes it; null when it must be shown as it was written. */
export function linkTarget(href: string): string | null {
  const url = URL.parse(href);
  if (url === null || !PROTOCOLS.has(url.protocol)) return null;
  return url.href.length <= LENGTH_MAX ? url.href : null;
}
