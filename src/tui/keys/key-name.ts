import { didYouMean, nameHint } from '../../render/nearest-name.ts';

/** Modifiers, in the order of a normalized name. */
const MODIFIERS = ['ctrl', 'shift', 'alt', 'super'] as const;
const NAMED = [
  ...'escape enter tab space backspace delete insert home end pageup pagedown up down left right'.split(' '),
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
];
const SYNONYMS: Readonly<Record<string, string>> = {
  esc: 'escape',
  return: 'enter',
  control: 'ctrl',
  option: 'alt',
  meta: 'alt',
  cmd: 'super',
};

/** Normalizes a key of the configuration to the form `ctrl+shift+up`; or says what is wrong with it. */
export function keyName(text: string): { readonly name: string } | { readonly fault: string } {
  const lower = text.toLowerCase();
  // `+` is a key, too.
  const key = lower.endsWith('+') ? '+' : (lower.split('+').at(-1) ?? '');
  const before = lower.slice(0, lower.length - key.length).replace(/\+$/, '');
  const modifiers = before === '' ? [] : before.split('+').map((word) => SYNONYMS[word] ?? word);
  const unknown = modifiers.find((word) => !MODIFIERS.some((modifier) => modifier === word));
  if (unknown !== undefined)
    return {
      fault: `no key called "${text}". ${nameHint(unknown, MODIFIERS, 'Modifiers')}`,
    };
  const base = SYNONYMS[key] ?? key;
  if (!/^[!-~]$/.test(base) && !NAMED.includes(base))
    return {
      fault: `no key called "${text}". ${didYouMean(base, NAMED)}Keys: one printable character, or ${NAMED.join(', ')}`,
    };
  return { name: [...MODIFIERS.filter((modifier) => modifiers.includes(modifier)), base].join('+') };
}

/** Whether a key, by its normalized name, writes or edits text, and so must not be bound on its own. */
export function writesText(name: string): boolean {
  return /^(?:tab|(?:shift\+)?(?:.|enter|space|backspace|delete|up|down|left|right|home|end))$/.test(name);
}

/** A key as displayed: `Ctrl-X`. */
export function describeKey(name: string): string {
  const key = name.endsWith('+') ? '+' : (name.split('+').at(-1) ?? '');
  const modifiers = name
    .slice(0, name.length - key.length)
    .split('+')
    .filter((word) => word !== '');
  const arrows: Readonly<Record<string, string>> = {
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    escape: 'Esc',
  };
  const shown = arrows[key] ?? (key.length === 1 && modifiers.length === 0 ? key : capital(key));
  return [...modifiers.map(capital), shown].join('-');
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
