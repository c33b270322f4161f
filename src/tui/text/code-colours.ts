import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { type Paint, paint, type UiStyle } from '../../render/style.ts';

const highlighter = hljs.newInstance();
for (const [name, language] of Object.entries({
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}))
  highlighter.registerLanguage(name, language);

/** Kinds of spans, as the highlighter names them. */
const KINDS = {
  dim: 'comment quote',
  magenta: 'keyword selector-tag',
  yellow: 'literal number',
  green: 'string regexp addition',
  red: 'deletion',
  blue: 'title section name',
  cyan: 'built_in type meta attr attribute',
} as const satisfies Partial<Record<Paint, string>>;
const PAINTS = new Map<string, Paint>(
  Object.entries(KINDS).flatMap(([paint, kinds]) => kinds.split(' ').map((kind) => [kind, paint as Paint])),
);

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

/** Matches a line that is too long to be coloured: patterns of many languages take quadratic time in the length of a line. */
const LONG_LINE = /.{201}/;

/** Code as coloured lines; plain without colours, in an unknown language, or with a very long line. */
export function codeColours(code: string, language: string | undefined, style: UiStyle): string[] {
  const known = style.colour && language !== undefined && highlighter.getLanguage(language) !== undefined;
  if (!known || LONG_LINE.test(code)) return code.split('\n');
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
  return paintSpans(value, style);
}

/** Converts the highlighter's output: nested spans and five entities. A span may cross lines; a colour never does. */
function paintSpans(html: string, style: UiStyle): string[] {
  const lines: string[] = [''];
  const open: (Paint | null)[] = [];
  for (const [token] of html.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (token === '</span>') open.pop();
    else if (token.startsWith('<span')) open.push(paintOf(token) ?? open.at(-1) ?? null);
    else {
      const text = token.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
      text.split('\n').forEach((piece, index) => {
        if (index > 0) lines.push('');
        const colour = open.at(-1) ?? null;
        lines[lines.length - 1] += colour === null || piece === '' ? piece : paint(style, colour, piece);
      });
    }
  }
  return lines;
}

function paintOf(span: string): Paint | null {
  const name = /hljs-([\w-]+)/.exec(span)?.[1] ?? '';
  return PAINTS.get(name) ?? null;
}
