const LENGTH_MAX = 100;

/** Controls, what is not seen, what turns the order of letters, and what breaks a line. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]/u;
const UNSEEN_RUNS = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800\s]+/gu;

/** Whoever is called so could be taken for somebody else: a person, the runtime, or the agent that a tree begins with. */
const RESERVED: ReadonlySet<string> = new Set([
  'assistant',
  'coppice',
  'human',
  'main',
  'root',
  'system',
  'user',
  'you',
]);

/** Letters of other scripts that are drawn like those of the words above. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  ['aаα', 'cсϲ', 'eе', 'hһ', 'iіιı', 'mм', 'nոη', 'oоοօ', 'pрρ', 'sѕ', 'tтτ', 'uսυ', 'yуγү'].flatMap(
    ([letter = '', ...others]) => others.map((other) => [other, letter] as const),
  ),
);

/** Why this cannot be what people and agents call an agent, a run or a job by; null when it can. A root may be `main`. */
export function nameFault(name: string, is_root = false): string | null {
  const text = name.trim();
  if (text === '') return 'a name must not be empty';
  if (text.length > LENGTH_MAX) return `a name has at most ${LENGTH_MAX} characters`;
  if (UNSEEN.test(text) || !text.isWellFormed())
    return 'a name is one line of visible characters: no line breaks, control characters, direction marks or characters of no width';
  if (RESERVED.has(seenAs(text)) && !(is_root && text === 'main'))
    return `"${text}" is no name: it could be taken for somebody else. Choose one that says what the agent does`;
  return null;
}

/** The letters of it, without marks, as a hurried reader takes them. */
function seenAs(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return [...letters].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

/** A good name as it is kept. */
export function keptName(name: string): string {
  return name.trim().normalize('NFC');
}

/**
 * A name in a line that says who speaks: nothing in it can end the line or look like what stands around it. Ledgers of older versions hold any text.
 */
export function framedName(name: string): string {
  const plain = visibleLine(name.slice(0, 4 * LENGTH_MAX))
    .slice(0, LENGTH_MAX)
    .toWellFormed();
  return plain.replaceAll(/[[(]/g, '‹').replaceAll(/[\])]/g, '›').replaceAll('"', "'") || 'nobody';
}

/** What is seen of a text, on one line. */
export function visibleLine(text: string): string {
  return text.replaceAll(UNSEEN_RUNS, ' ').trim();
}
