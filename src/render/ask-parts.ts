import type { Ask } from '../core/ask.ts';
import { parseJson } from '../core/json-text.ts';
import { inPlainSight } from './plain-sight.ts';

/** One thing that a person allows with a call. */
export interface AskPart {
  /** The argument; empty when the whole input is meant, or the difference that the call makes. */
  readonly name: string;
  /** What the call is about: it needs no name where there is little room. */
  readonly is_subject: boolean;
  /** In plain sight, whole; several lines stand apart by line breaks. */
  readonly text: string;
  readonly language: '' | 'bash' | 'json' | 'diff';
  /** Something in it had to be spelled. */
  readonly spelled: boolean;
}

/** Everything that the call would be given, as every door shows it: the change of a file as a difference, a command as it runs, all else by name. */
export function askParts(ask: Pick<Ask, 'tool' | 'subject' | 'input' | 'difference'>): readonly AskPart[] {
  const given = parsed(ask.input);
  if (given === null) {
    const text = ask.input === '' ? '(no arguments)' : ask.input;
    return [part('', true, text, '')];
  }
  const changed = changeOf(ask, given);
  const others = Object.entries(given).filter(([name]) => !changed.names.includes(name));
  const shown = others.map(([name, value]) => {
    const is_subject = value === ask.subject || value === `./${ask.subject}`;
    if (typeof value !== 'string') return part(name, is_subject, JSON.stringify(value, null, 2), 'json');
    if (ask.tool === 'bash' && name === 'command') return part(name, true, value, 'bash');
    return part(name, is_subject, value, '');
  });
  const sorted = [...shown.filter((one) => one.is_subject), ...shown.filter((one) => !one.is_subject)];
  // The file that a path leads to, where that says otherwise: through `..`, or a link.
  if (typeof given.path === 'string' && sorted.every((one) => !one.is_subject))
    sorted.unshift(part('', true, ask.subject, ''));
  if (changed.text === null) return sorted.length > 0 ? sorted : [part('', true, '(no arguments)', '')];
  return [...sorted, part('', false, changed.text, 'diff')];
}

function part(name: string, is_subject: boolean, raw: string, language: AskPart['language']): AskPart {
  // To a shell a carriage return is a character; in a text it is how lines end on some machines.
  const plain = language === '' ? raw.replaceAll('\r\n', '\n') : raw;
  const text = inPlainSight(plain);
  return { name: inPlainSight(name), is_subject, text, language, spelled: text !== plain };
}

/** The difference that the tool made out when it asked; without one, what the edits of a patch take and give. */
function changeOf(
  { tool, difference }: Pick<Ask, 'tool' | 'difference'>,
  given: Readonly<Record<string, unknown>>,
): { readonly text: string | null; readonly names: readonly string[] } {
  const names = tool === 'patch' ? ['edits'] : tool === 'write' ? ['content'] : [];
  if (difference !== null) return { text: difference, names };
  const { edits } = given;
  if (tool !== 'patch' || !Array.isArray(edits)) return { text: null, names: [] };
  const lines = edits.map((edit: unknown) => {
    const { old_text, new_text } = (edit ?? {}) as {
      readonly old_text?: unknown;
      readonly new_text?: unknown;
    };
    return typeof old_text === 'string' && typeof new_text === 'string'
      ? `@@\n${marked('-', old_text)}\n${marked('+', new_text)}`
      : null;
  });
  return lines.includes(null) ? { text: null, names: [] } : { text: lines.join('\n'), names };
}

function marked(sign: '-' | '+', text: string): string {
  return text.replaceAll(/^/gm, sign);
}

function parsed(input: string): Readonly<Record<string, unknown>> | null {
  const read = parseJson(input);
  if (!read.ok || typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return null;
  return read.value as Record<string, unknown>;
}
