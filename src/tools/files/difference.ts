import { isUtf8 } from 'node:buffer';
import { createTwoFilesPatch } from 'diff';
import type { ContainedPath } from '../../permissions/path-containment.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { breaksIn } from '../../records/text/text.ts';
import type { PathContext } from '../../records/tool.ts';
import { HASH_BYTES } from './file-hash.ts';
import { isBinary } from './file-kind.ts';
import { readWhole } from './read-whole.ts';

/** Number of differing lines up to which texts are always compared, however busy the machine is: it takes milliseconds. */
const COMPARE_EDITS = 400;
/** Limits for all other texts: comparing very different or very large ones takes too long. */
const COMPARE_MS = 40;
const COMPARE_CHARACTERS = 1_000_000;
const COMPARE_LINES = 20_000;

/** Reads the text of a file to be edited. Throws an Error for the model if it is not text. */
export function readText(source: ContainedPath): string {
  return patchableText(source, readWhole(source, HASH_BYTES, 'use bash, with sed for example'));
}

export function patchableText(source: ContainedPath, bytes: Buffer): string {
  if (isBinary(bytes) || !isUtf8(bytes))
    throw new Error(`${printablePath(source.relative)}: not UTF-8 text, so patch would damage it: use bash`);
  return bytes.toString('utf8');
}

/** A unified diff; null if the texts are too large or too different to compare in time. */
export function difference(name: string, before: string, after: string): string | null {
  if (before.length + after.length > COMPARE_CHARACTERS) return null;
  if (breaksIn(before) + breaksIn(after) + 2 > COMPARE_LINES) return null;
  const compare = (limit: { readonly maxEditLength: number } | { readonly timeout: number }) =>
    createTwoFilesPatch(name, name, before, after, '', '', { context: 2, ...limit });
  const patch = compare({ maxEditLength: COMPARE_EDITS }) ?? compare({ timeout: COMPARE_MS });
  return patch === undefined ? null : patch.slice(patch.indexOf('--- ')).replaceAll('\0', '\ufffd');
}

/** The diff of a change, without the file's name; null if the file may not be read or the change cannot be compared. Throws if the file is not text. */
export function changeOf(
  target: ContainedPath,
  change: (before: string) => string,
  { denied }: PathContext,
): string | null {
  if (denied?.('read', target.relative) !== undefined) return null;
  const before = target.exists ? readText(target) : '';
  const after = change(before);
  if (target.exists && after === before) return '(nothing would change)';
  const whole = difference('file', before, after);
  if (whole === null) return null;
  const hunks = whole.slice(Math.max(0, whole.indexOf('@@'))).replace(/\n$/, '');
  return target.exists ? hunks : `(a new file)\n${hunks}`;
}
