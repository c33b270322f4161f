import { useEffect, useState } from 'preact/hooks';
import type { texts } from '../text.ts';

/** An id, with its beginning, by which people know it. */
export const UUID = /\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

type Texts = typeof texts;

const there = () => (globalThis as { readonly coppiceTexts?: Texts }).coppiceTexts ?? null;
let loading: Promise<unknown> | null = null;

/** What reads Markdown and colours code; null until it is loaded, or if it cannot be. */
export function useTexts(): Texts | null {
  const [loaded, setLoaded] = useState(there);
  useEffect(() => {
    if (loaded !== null) return;
    loading ??= import(new URL('text.js', import.meta.url).href);
    loading.then(
      () => setLoaded(there),
      () => undefined,
    );
  }, [loaded]);
  return loaded;
}

/** Text of a model in one line, without the marks of Markdown, or of JSON, around its words. Either may begin or end anywhere in them. */
export function plainWords(text: string): string {
  return (/"\w+": ?["[{\w-]/.test(text) ? withoutJson(text) : text)
    .replaceAll(/^\s*#{1,6}\s+/gm, '')
    .replaceAll(/(\*\*|__|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2')
    .replaceAll(/\[([^\]\n]+)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ');
}

/** A key ends its line, so that Markdown can begin the next one. */
function withoutJson(text: string): string {
  return text
    .replaceAll(/[}\]]*(,?)[{[]*"(\w+)": ?[{[]*/g, '$1 $2:\n')
    .replaceAll(/(?<!\\)"[}\]]*|^[{[]+|[}\]]+$/g, '')
    .replaceAll('\\n', '\n')
    .replaceAll('\\"', '"')
    .trim();
}
