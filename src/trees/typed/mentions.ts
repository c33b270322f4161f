import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { orElse } from '../../records/coppice-error.ts';

/** A word that begins with `@` and may name a file, a folder or an agent; quoted if the name contains spaces. */
export interface Mention {
  readonly name: string;
  readonly quoted: boolean;
}

/** Returns the mentions in a text, without duplicates. */
export function mentionsIn(text: string): readonly Mention[] {
  const found = new Map<string, Mention>();
  for (const [, quoted, plain] of text.matchAll(/(?<![^\s(])@(?:"([^"\n]+)"|([^\s"]+))/g)) {
    const name = quoted ?? plain ?? '';
    if (!found.has(name)) found.set(name, { name, quoted: quoted !== undefined });
  }
  return [...found.values()];
}

/** Returns the names that a mention may stand for: as written, then without trailing punctuation. */
export function namesOf({ name, quoted }: Mention): readonly string[] {
  const bare = name.replace(/[.,;:!?)\]}'>]+$/, '');
  return quoted || bare === name || bare === '' ? [name] : [name, bare];
}

/** Parses a message to a named agent, `@NAME text`; null if the first word is no mention. */
export function addressee(text: string): { readonly agent: string; readonly message: string } | null {
  const [, quoted, plain, message = ''] = /^\s*@(?:"([^"\n]+)"|([^\s"]+))(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const agent = quoted ?? plain;
  return agent === undefined ? null : { agent, message: message.trim() };
}

/** Returns the mention of a name as it is typed: quoted if the name contains white space. */
export function mentionOf(name: string): string {
  return /\s/.test(name) ? `@"${name}"` : `@${name}`;
}

/** Returns the mention of a picture whose path was pasted, as terminals do when a file is dropped on them; null for any other text. */
export function mentionOfDropped(pasted: string): string | null {
  const text = pasted.trim();
  if (text.includes('\n') || !/^(?:['"]?\/|file:\/\/\/).*\.(?:png|jpe?g|gif|webp)['"]?$/i.test(text))
    return null;
  const bare = text.replace(/^(['"])(.*)\1$/, '$2');
  const path = bare.startsWith('file://')
    ? orElse(() => fileURLToPath(bare), null)
    : bare.replaceAll(/\\(.)/g, '$1');
  return path !== null && existsSync(path) ? mentionOf(path) : null;
}
