import { orElse } from '../coppice-error.ts';
import { cutText } from './cut-text.ts';

/**
 * Makes text storable in the ledger: all of Unicode except what databases and providers cannot represent. A lone surrogate
 * becomes U+FFFD, NUL becomes U+2400 (its symbol).
 */
export function storable(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\u2400') : formed;
}

/** The text without percent-encoding, if it has a valid one. */
export function decoded(text: string): string {
  return orElse(() => decodeURIComponent(text), text);
}

/** The names in a reference within a JSON document: `$defs` and `a/b` of `#/$defs/a~1b`. */
export function namesInReference(reference: string): string[] {
  const parts = reference.split('/').slice(1);
  return parts.map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'));
}

const EXCERPT = 60;

/** The beginning of a text on one line, in quotes, for people. */
export function excerpt(text: string): string {
  const line = cutText(text, EXCERPT * 2)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `"${cutText(line, EXCERPT, '…')}"`.toWellFormed();
}

/** `1 agent`, `3 agents`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function breaksIn(text: { indexOf(part: string, from?: number): number }): number {
  let breaks = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) breaks += 1;
  return breaks;
}
