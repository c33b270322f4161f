import { isUtf8 } from 'node:buffer';
import { cleanLines } from '../../render/clean.ts';
import type { PageJob, PageOutcome } from './page-thread.ts';

/** Runs in the thread of `page-thread.ts` and loads libraries only there. */
export async function readPage(job: PageJob): Promise<PageOutcome> {
  if (job.type === 'robots') {
    // A CommonJS package whose types claim otherwise.
    const { default: robotsParser } = (await import('robots-parser')) as unknown as {
      default: typeof import('robots-parser').default;
    };
    const robots = robotsParser(new URL('/robots.txt', job.url).href, job.text);
    // A page that no rule matches is allowed.
    return { type: 'robots', allowed: robots.isAllowed(job.url, job.agent) !== false };
  }
  const written = decodeText(job.bytes, job.content_type);
  if (!isHtml(job.content_type, written))
    return { type: 'text', title: null, text: tidy(written), note: null };
  const { htmlText } = await import('./html-text.ts');
  const { title, text, note } = htmlText(written, job.url, job.whole);
  return { type: 'text', title: title === null ? null : tidy(title), text: tidy(text), note };
}

function tidy(text: string): string {
  return cleanLines(text)
    .replaceAll('\r', '\n')
    .replaceAll(/[^\S\n]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function isHtml(content_type: string, text: string): boolean {
  const type = mediaType(content_type);
  if (type === 'text/html' || type === 'application/xhtml+xml') return true;
  return type === '' && /^\s*<(?:!doctype html|html|head|body)\b/i.test(text.slice(0, 1000));
}

export function mediaType(content_type: string): string {
  return (content_type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Decodes a text by its byte order mark, the header or the declaration in the page, in this order; otherwise as UTF-8 or, if invalid, windows-1252. */
export function decodeText(bytes: Uint8Array, content_type: string): string {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const named =
    (start.startsWith('\xef\xbb\xbf') && 'utf-8') ||
    (start.startsWith('\xfe\xff') && 'utf-16be') ||
    (start.startsWith('\xff\xfe') && 'utf-16le') ||
    /;\s*charset\s*=\s*["']?([\w.:-]+)/i.exec(content_type)?.[1] ||
    /<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1] ||
    /^<\?xml\b[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1];
  const fallback = isUtf8(bytes) ? 'utf-8' : 'windows-1252';
  try {
    return new TextDecoder(named || fallback).decode(bytes);
  } catch {
    return new TextDecoder(fallback).decode(bytes);
  }
}
