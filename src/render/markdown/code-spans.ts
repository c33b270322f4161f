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
import { unescaped } from './unescaped.ts';

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

/** Colours of code, and the kinds of spans, as the highlighter names them, that have each. */
const KINDS = {
  dim: 'comment quote',
  magenta: 'keyword selector-tag',
  yellow: 'literal number',
  green: 'string regexp addition',
  red: 'deletion',
  blue: 'title section name',
  cyan: 'built_in type meta attr attribute',
} as const;

export type CodeColour = keyof typeof KINDS;

/** A piece of code, which may cross lines, and its colour. */
export type CodeSpan = readonly [text: string, colour: CodeColour | null];

const COLOURS = new Map(
  Object.entries(KINDS).flatMap(([colour, kinds]) =>
    kinds.split(' ').map((kind) => [kind, colour as CodeColour]),
  ),
);

/** Matches a line that is too long to be coloured: patterns of many languages take quadratic time in the length of a line. */
const LONG_LINE = /.{201}/;

/** The code in coloured pieces; null in an unknown language, or with a very long line. */
export function codeSpans(code: string, language: string | undefined): readonly CodeSpan[] | null {
  if (language === undefined || highlighter.getLanguage(language) === undefined || LONG_LINE.test(code))
    return null;
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
  const open: (CodeColour | null)[] = [];
  const spans: CodeSpan[] = [];
  // The highlighter writes nested spans and entities.
  for (const [token] of value.matchAll(/<span class="[^"]*">|<\/span>|[^<]+/g)) {
    if (token === '</span>') open.pop();
    else if (token.startsWith('<span'))
      open.push(COLOURS.get(/hljs-([\w-]+)/.exec(token)?.[1] ?? '') ?? open.at(-1) ?? null);
    else spans.push([unescaped(token), open.at(-1) ?? null]);
  }
  return spans;
}
