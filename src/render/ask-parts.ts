import type { Ask } from '../records/conversation/ask.ts';
import { fieldText } from '../records/question/form-field.ts';
import { type Question, questionOf } from '../records/question/question.ts';
import { parsedObject } from '../records/text/json-text.ts';
import { cutMiddle, spellHidden } from './hidden-characters.ts';

// The effect of a call that waits for approval, in parts that can be shown.

/** One argument of the call, or the change that it makes. */
export interface AskPart {
  /** Name of the argument; empty for the whole input, and for the diff of a change. */
  readonly name: string;
  /** Whether this is what the call acts on; shown without its name if space is short. */
  readonly is_subject: boolean;
  /** Hidden characters are spelled out (`spellHidden`); may have several lines. */
  readonly text: string;
  /** Number of characters left out, where a mark in the text says so. */
  readonly left_out: number;
  readonly language: '' | 'bash' | 'json' | 'diff';
  /** Whether the text contains spelled-out hidden characters. */
  readonly spelled: boolean;
}

const PARTS_MAX = 50;
const NAME_MAX = 200;

type Asked = Pick<Ask, 'tool' | 'subject' | 'subject_kind' | 'input' | 'difference'>;

/**
 * Returns every argument of the call: a file change as a diff, a command as it runs, everything else by name. If `most` is finite, an
 * argument of more than `most` characters loses its middle, and of arguments beyond `PARTS_MAX` only the number is given.
 */
export function askParts(ask: Asked, most = Number.POSITIVE_INFINITY): readonly AskPart[] {
  return [...eachAskPart(ask, most)];
}

/** As `askParts`, but lazily: each part of a large call takes time. */
export function* eachAskPart(ask: Asked, most: number): Generator<AskPart> {
  const all = allParts(ask);
  const shown = most < Number.POSITIVE_INFINITY ? all.slice(0, PARTS_MAX) : all;
  for (const raw of shown) yield readable(raw, most);
  const more = all.slice(shown.length);
  if (more.length === 0) return;
  const left_out = more.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
  const text = `[… ${more.length} more arguments, ${left_out} characters …]`;
  yield { name: '', is_subject: false, text, left_out, language: '', spelled: false };
}

/** A part with its text as it was given. */
type RawPart = Omit<AskPart, 'left_out' | 'spelled'>;

function allParts(ask: Asked): RawPart[] {
  const question = questionOf(ask);
  if (question !== null) return questionParts(question);
  const given = parsedObject(ask.input);
  if (given === null) {
    const text = ask.input === '' ? '(no arguments)' : ask.input;
    return [part('', true, text, '')];
  }
  const creates = ask.subject_kind === 'agents' ? [part('creates', false, ask.subject, '')] : [];
  const changed = changeOf(ask, given);
  const others = Object.entries(given).filter(([name]) => !changed.names.includes(name));
  const shown = others.map(([name, value]) => {
    const is_subject = value === ask.subject || value === `./${ask.subject}`;
    if (typeof value !== 'string') return part(name, is_subject, JSON.stringify(value, null, 2), 'json');
    if (ask.tool === 'bash' && name === 'command') return part(name, true, value, 'bash');
    return part(name, is_subject, value, '');
  });
  const sorted = [
    ...creates,
    ...shown.filter((one) => one.is_subject),
    ...shown.filter((one) => !one.is_subject),
  ];
  // The path differs from the file that it resolves to (`..`, or a link): show that file.
  const is_script = ask.subject_kind === 'script';
  if ((is_script || typeof given.path === 'string') && sorted.every((one) => !one.is_subject))
    sorted.unshift(part('', true, ask.subject, ''));
  if (changed.text === null) return sorted.length > 0 ? sorted : [part('', true, '(no arguments)', '')];
  // What a script would do stands before its lines.
  const lines = is_script ? Math.max(0, changed.text.indexOf('\n+') + 1) : 0;
  if (lines > 0) sorted.splice(1, 0, part('', false, changed.text.slice(0, lines), ''));
  return [...sorted, part('', false, changed.text.slice(lines), 'diff')];
}

/** Parts of a question: its message, every field of its form with the allowed values, and the call that asks. */
function questionParts({ asker, message, fields, url, call }: Question): RawPart[] {
  return [
    part('', true, `${asker} asks: ${message}`, ''),
    ...(url === undefined ? [] : [part('address to visit (nothing opens it)', false, url, '')]),
    ...fields.map((field) => {
      const about = [field.title, field.description].filter((one) => one !== undefined && one !== field.name);
      return part(field.name, false, [`(${fieldText(field)})`, ...about].join(' '), '');
    }),
    ...(call === '' ? [] : [part('in its call', false, call, '')]),
  ];
}

function part(name: string, is_subject: boolean, text: string, language: AskPart['language']): RawPart {
  return { name, is_subject, text, language };
}

function readable({ name, is_subject, text: raw, language }: RawPart, most: number): AskPart {
  // In a text, CR LF is a line ending; to a shell, CR is a character that must be seen.
  const plain = language === '' ? raw.replaceAll('\r\n', '\n') : raw;
  const near = cutMiddle(plain, most);
  const text = spellHidden(near);
  return {
    name: spellHidden(cutMiddle(name, NAME_MAX)),
    is_subject,
    text,
    left_out: Math.max(0, plain.length - most),
    language,
    spelled: text !== near,
  };
}

/** Arguments that the difference shows. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  ...{ patch: ['edits'], write: ['content'], workflow: ['script', 'name', 'scriptPath'] },
};

/** The diff that the tool computed when it asked, otherwise the edits of a patch as a diff; null if there is neither. `names`: arguments that it replaces. */
function changeOf(
  { tool, difference }: Pick<Ask, 'tool' | 'difference'>,
  given: Readonly<Record<string, unknown>>,
): { readonly text: string | null; readonly names: readonly string[] } {
  const names = CHANGES[tool] ?? [];
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
