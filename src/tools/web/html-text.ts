// @ts-expect-error: this package has no types.
import { gfm } from '@joplin/turndown-plugin-gfm';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { nestingOf, plainText, TEXTLESS } from './plain-text.ts';

interface HtmlText {
  readonly title: string | null;
  readonly text: string;
  /** How the text was made, for the reader; null if there is nothing to say. */
  readonly note: string | null;
}

/** As the parser gives it: programs that use the types of the library need not have those of a browser. */
type Page = ReturnType<typeof parseHTML>['document'];

/** Maximum depth of a page: the libraries visit the ancestors of each element, so deeper pages could take unbounded time. */
const DEPTH_MAX = 400;
/** Minimum characters of a main text; a shorter one is ignored if the page has more. */
const MAIN_LEAST = 200;

/** Converts a page to Markdown: its main text, or all of it. */
export function htmlText(html: string, url: string, whole: boolean): HtmlText {
  if (nestingOf(html) > DEPTH_MAX) return plain(html, 'the page is nested too deeply');
  try {
    return mainText(html, url, whole);
  } catch {
    return plain(html, 'the page is not well-formed');
  }
}

function plain(html: string, why: string): HtmlText {
  return { title: null, text: plainText(html), note: `${why}, so this is its plain text` };
}

function mainText(html: string, url: string, whole: boolean): HtmlText {
  const { document } = parseHTML(withBody(html));
  // In a page without a head, the title is part of the text.
  const title = document.querySelector('title')?.textContent?.trim() || null;
  for (const one of [...document.querySelectorAll(['title', ...TEXTLESS].join(','))]) one.remove();
  absoluteLinks(document, document.querySelector('base')?.getAttribute('href') ?? null, url);
  const body = document.body.innerHTML;
  const length = document.body.textContent?.trim().length ?? 0;
  const main = whole ? null : new Readability(document, { keepClasses: true }).parse();
  const short = (main?.length ?? 0) < Math.min(MAIN_LEAST, length);
  const left_out = !short && main !== null;
  return {
    title: main?.title?.trim() || title,
    text: markdown((short ? body : main?.content) ?? body),
    note: left_out ? 'the main text of the page; with "whole": true you get all of it, with its menus' : null,
  };
}

/** Wraps a page that has no tags around its text. */
function withBody(html: string): string {
  return /<(?:body|frameset)[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
}

function absoluteLinks(document: Page, base: string | null, url: string): void {
  const from = URL.parse(base ?? '', url)?.href ?? url;
  for (const [selector, attribute] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const)
    for (const one of document.querySelectorAll(selector)) {
      const to = URL.parse(one.getAttribute(attribute) ?? '', from);
      // Other targets, such as pictures embedded in the page, mean nothing as text.
      if (to === null || !/^(?:https?|mailto):$/.test(to.protocol)) one.removeAttribute(attribute);
      else one.setAttribute(attribute, to.href);
    }
}

function markdown(html: string): string {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  });
  turndown.use(gfm);
  return turndown.turndown(html);
}
