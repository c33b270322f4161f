const LENGTH_MAX = 100;

/** Control characters, invisible characters, bidirectional marks and line separators. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]/u;
const UNSEEN_RUNS = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800\s]+/gu;

/** Names that could be mistaken for a person, the runtime or the root agent. */
const RESERVED: ReadonlySet<string> = new Set('assistant coppice human main root system user you'.split(' '));

/** Homoglyphs: letters of other scripts that look like those of the reserved names. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  ['aаα', 'cсϲ', 'eе', 'hһ', 'iіιı', 'mм', 'nոη', 'oоοօ', 'pрρ', 'sѕ', 'tтτ', 'uսυ', 'yуγү'].flatMap(
    ([letter = '', ...others]) => others.map((other) => [other, letter] as const),
  ),
);

/** Returns why the text is not a valid name for an agent, a run or a job; null if it is valid. Only a root may be called `main`. */
export function nameFault(name: string, is_root = false): string | null {
  const text = name.trim();
  if (text === '') return 'a name must not be empty';
  if (text.length > LENGTH_MAX) return `a name has at most ${LENGTH_MAX} characters`;
  if (UNSEEN.test(text) || !text.isWellFormed())
    return 'a name is one line of visible characters: no line breaks, control characters, direction marks or zero-width characters';
  if (RESERVED.has(confusableForm(text)) && !(is_root && text === 'main'))
    return `"${text}" is a reserved name: it could be mistaken for a person, the runtime or the root agent. Choose one that says what the agent does`;
  return null;
}

/** Letters and digits in lower case, without diacritics, homoglyphs replaced: names with equal results look alike. */
function confusableForm(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return [...letters].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

/** The form in which a valid name is stored. */
export function storedName(name: string): string {
  return name.trim().normalize('NFC');
}

/**
 * Sanitizes a name for a line that says who is speaking, so that it can neither end the line nor imitate the text around it. Needed because ledgers of older
 * versions may hold any text as a name.
 */
export function framedName(name: string): string {
  const plain = visibleLine(name.slice(0, 4 * LENGTH_MAX))
    .slice(0, LENGTH_MAX)
    .toWellFormed();
  return plain.replaceAll(/[[(]/g, '‹').replaceAll(/[\])]/g, '›').replaceAll('"', "'") || 'nobody';
}

/** The visible characters of a text, on one line. */
export function visibleLine(text: string): string {
  return text.replaceAll(UNSEEN_RUNS, ' ').trim();
}

const NAME_LENGTH = 32;

/** Returns the label, or if there is none, a name made of the first words of the task. */
export function nameOfTask(task: string, label: string | null | undefined): string {
  if (label) return label;
  const words =
    task
      .slice(0, 8 * NAME_LENGTH)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  let name = '';
  for (const word of words) {
    if (name.length + word.length + 1 > NAME_LENGTH) break;
    name += name === '' ? word : `-${word}`;
  }
  if (name === '') return 'task';
  return nameFault(name) === null ? name : `task-${name}`;
}
