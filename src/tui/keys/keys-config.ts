import * as z from 'zod';
import { didYouMean, nameHint } from '../../render/nearest-name.ts';
import { ACTIONS, type Action } from '../commands/command-table.ts';

interface Chord {
  readonly after_leader: boolean;
  /** Name as normalized by `keyName`. */
  readonly key: string;
}

export type KeyBindings = ReadonlyMap<Action, readonly Chord[]>;

/** `keys` of the configuration: per action, the keys that replace its defaults, `["ctrl+g", "ctrl+x a"]`; `[]` leaves it without keys. */
export const keysConfig = z
  .strictObject(
    Object.fromEntries(ACTIONS.map(({ action }) => [action, z.array(z.string()).optional()])) as Record<
      Action,
      z.ZodOptional<z.ZodArray<z.ZodString>>
    >,
  )
  .superRefine((keys, context) => {
    for (const fault of bound(keys).faults)
      context.addIssue({ code: 'custom', path: fault.path, message: fault.message });
  });

export type KeysConfig = z.infer<typeof keysConfig>;

/** Returns the bindings of a valid configuration. A key that it binds to one action is no longer a default of another. */
export function keyBindings(config: KeysConfig = {}): KeyBindings {
  return bound(config).bindings;
}

/** The same as a row of `ACTIONS`, with the keys as displayed: `Ctrl-X a`, of which `a` is among those after the leader key. */
export type BindingRow = (typeof ACTIONS)[number] & {
  readonly alone: readonly string[];
  readonly after_leader: readonly string[];
};

/** Describes every action for the help, in the order of `ACTIONS`. */
export function describeBindings(bindings: KeyBindings): readonly BindingRow[] {
  const leader = describeKey(bindings.get('leader')?.[0]?.key ?? '');
  return ACTIONS.map((row) => {
    const chords = bindings.get(row.action) ?? [];
    const named = (after: boolean) =>
      chords.filter(({ after_leader }) => after_leader === after).map(({ key }) => describeKey(key));
    const keys = chords.map(
      ({ after_leader, key }) => `${after_leader ? `${leader} ` : ''}${describeKey(key)}`,
    );
    return { ...row, keys, alone: named(false), after_leader: named(true) };
  });
}

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

function bound(config: KeysConfig): { readonly bindings: KeyBindings; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const leaders = (config.leader ?? ['ctrl+x']).map((text) => keyName(text));
  const leader = leaders.flatMap((read) => ('name' in read ? [read.name] : []));
  if (config.leader?.length === 0)
    faults.push({ path: ['leader'], message: 'the leader needs at least one key' });
  const claims = new Map<string, Action>();
  const own = new Map<Action, readonly Chord[]>();
  for (const { action } of ACTIONS) {
    const texts = config[action];
    if (texts === undefined) continue;
    const chords = texts.flatMap((text, index) => {
      const fault = (message: string) => {
        faults.push({ path: [action, index], message });
        return [];
      };
      if (action === 'leader' && /\s/.test(text.trim())) return fault('the leader key is one key, not two');
      const read = chordOf(text, leader);
      if ('fault' in read) return fault(read.fault);
      if (action !== 'leader' && !read.after_leader && leader.includes(read.key))
        return fault(`${text} is the leader key; to use it here, set "leader" to another key`);
      const other = claims.get(claim(read));
      if (other !== undefined)
        return fault(`${text} is already bound to ${other}: bind it to only one of them`);
      claims.set(claim(read), action);
      return [read];
    });
    own.set(action, chords);
  }
  const bindings = ACTIONS.map(({ action, keys }): [Action, readonly Chord[]] => {
    const standard = keys.map((text) => chordOf(text, leader)).filter((read) => 'key' in read);
    return [action, own.get(action) ?? standard.filter((chord) => !claims.has(claim(chord)))];
  });
  return { bindings: new Map(bindings), faults };
}

function claim({ after_leader, key }: Chord): string {
  return `${after_leader ? 'leader ' : ''}${key}`;
}

function chordOf(text: string, leader: readonly string[]): Chord | { readonly fault: string } {
  const words = text.trim().split(/\s+/);
  const key = keyName(words.at(-1) ?? '');
  if ('fault' in key) return key;
  if (words.length === 1) {
    if (writesText(key.name)) return { fault: `${text} alone is needed for typing; use "leader ${text}"` };
    return { after_leader: false, key: key.name };
  }
  const first = words[0] === 'leader' ? { name: leader[0] ?? '' } : keyName(words[0] ?? '');
  if ('fault' in first) return first;
  if (words.length > 2 || !leader.includes(first.name))
    return { fault: `"${text}": a binding is one key, or the leader key (${leader[0]}) and one key` };
  if (key.name === 'escape') return { fault: `"${text}": Esc after the leader key cancels it` };
  return { after_leader: true, key: key.name };
}

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
function keyName(text: string): { readonly name: string } | { readonly fault: string } {
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
function writesText(name: string): boolean {
  return /^(?:tab|(?:shift\+)?(?:.|enter|space|backspace|delete|up|down|left|right|home|end))$/.test(name);
}

/** A key as displayed: `Ctrl-X`. */
function describeKey(name: string): string {
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
  if (modifiers.join() === 'shift' && key.length === 1) return key.toUpperCase();
  const shown = arrows[key] ?? (key.length === 1 && modifiers.length === 0 ? key : capital(key));
  return [...modifiers.map(capital), shown].join('-');
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
