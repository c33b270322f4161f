import { createHash } from 'node:crypto';
import type { PageFile } from '../../serve/http/pages.ts';

/**
 * Streams the dashboard with the documents of one tree as one page. Its content security policy allows only its own script and style, by their
 * hashes. `exported`: an `ExportedTree` as JSON, in pieces.
 */
export async function* treePage(
  pages: ReadonlyMap<string, PageFile>,
  exported: AsyncIterable<string>,
): AsyncGenerator<string> {
  const script = inScript(pages.get('dashboard.js')?.body ?? '');
  const style = (pages.get('style.css')?.body ?? '').replaceAll(/<(?=\/style)/gi, '\\3c ');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Coppice</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="exported">`;
  for await (const piece of exported) yield piece.replaceAll('<', '\\u003c');
  yield `</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

/** Escapes what would end the script element, or begin a comment that hides its end. */
function inScript(text: string): string {
  return text.replaceAll(/<(?=\/script|script|!--)/gi, '\\x3c');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
