// @ts-expect-error: this package has no types.
import { gfm } from '@joplin/turndown-plugin-gfm';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { nestingOf, plainText, TEXTLESS } from './plain-text.ts';

interface HtmlText {
  readonly title: string | null;
  readonly text: string;
  /** What the reader should know of how it was made. */
  readonly note: string | null;
}

/** In deeper pages the libraries, which look at the ancestors of each element, take time without bounds. */
const DEPTH_MAX = 400;
/** A shorter main text is none, if the page has more. */
const MAIN_LEAST = 200;

/** A page as Markdown: its main text, or all of it. */
export function htmlText(html: string, url: string, whole: boolean): HtmlText {
  if (nestingOf(html) > DEPTH_MAX) return plain(html, 'the page is nested too deeply');
  try {
    return mainText(html, url, whole);
  } catch {
    return plain(html, 'the page is not well made');
  }
}

function plain(html: string, why: string): HtmlText {
  return { title: null, text: plainText(html), note: `${why}, so this is its plain text` };
}

function mainText(html: string, url: string, whole: boolean): HtmlText {
  const { document } = parseHTML(withBody(html));
  // Where a page has no head, its title lies in its text.
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

/** A page without tags around its text is one, too. */
function withBody(html: string): string {
  return /<(?:body|frameset)[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
}

function absoluteLinks(document: Document, base: string | null, url: string): void {
  const from = URL.parse(base ?? '', url)?.href ?? url;
  for (const [selector, attribute] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const)
    for (const one of document.querySelectorAll(selector)) {
      const to = URL.parse(one.getAttribute(attribute) ?? '', from);
      // Pictures within the page itself say nothing as text.
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
