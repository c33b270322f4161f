// Colours of the terminal UI: the terminal's own where they are readable, others elsewhere or by configuration.
import type { Paint, Theme } from '../../render/style.ts';
import type { Background, Colour } from '../terminal/background.ts';

/** `tui.theme`: `auto` uses the background that was found, `light` and `dark` state it, the others name colours for both. */
export const THEMES = ['auto', 'light', 'dark', 'high-contrast', 'calm'] as const;

export type ThemeName = (typeof THEMES)[number];

export type ColourDepth = 4 | 8 | 24;

type Colours = Readonly<Partial<Record<Paint, `#${string}`>>>;

const PAINTS = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'dim'] as const;

/** A colour for each of `PAINTS`, in that order. */
function palette(...colours: readonly `#${string}`[]): Colours {
  return Object.fromEntries(PAINTS.map((paint, at) => [paint, colours[at]]));
}

/** Replacements for the terminal's colours, with a contrast of at least 4.5 to any usual background of the kind, in `high-contrast` 7 (5.5 in 256 colours). */
export const COLOURS: Readonly<
  Record<'own' | 'high-contrast' | 'calm', Readonly<Record<Background, Colours>>>
> = {
  own: {
    // Green, yellow and cyan remain the terminal's: its red, blue, magenta and dim are too dark almost everywhere.
    dark: { red: '#ff8787', blue: '#87afff', magenta: '#d787d7', dim: '#9e9e9e' },
    light: palette('#af0000', '#005f00', '#875f00', '#005faf', '#870087', '#005f5f', '#585858'),
  },
  'high-contrast': {
    dark: palette('#ffafaf', '#87ff87', '#ffff5f', '#afd7ff', '#ffafff', '#5fffff', '#d7d7d7'),
    light: palette('#870000', '#004b00', '#5f3700', '#00209f', '#5f0087', '#00474f', '#3a3a3a'),
  },
  calm: {
    dark: palette('#e5a3a3', '#a9c9a4', '#d9c38f', '#a3bfe0', '#ccb0d8', '#9ccaca', '#a3a9b1'),
    light: palette('#8f3b3b', '#3a613f', '#6d5217', '#34587f', '#684a7c', '#2b5f63', '#575d66'),
  },
};

/** For terminals with sixteen colours, whose looks are up to the terminal: those that contrast most with the background. */
const SIXTEEN: Readonly<Record<Background, Theme>> = {
  dark: { red: '91', green: '92', yellow: '93', blue: '96', magenta: '95', cyan: '96' },
  light: { red: '31', green: '34', yellow: '35', blue: '34', magenta: '35', cyan: '34' },
};

/** Relative luminance of WCAG 2, from 0 to 1. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of WCAG 2, from 1 to 21. */
function contrast(one: Colour, other: Colour): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const [BLACK, WHITE]: readonly [Colour, Colour] = [
  [0, 0, 0],
  [255, 255, 255],
];

/** Which text can be read on a background: on a dark one, light text. */
export function kindOfBackground(colour: Colour): Background {
  return contrast(colour, BLACK) > contrast(colour, WHITE) ? 'light' : 'dark';
}

/** Contrast of all text with a background that the terminal has reported. */
const CONTRAST_MIN = 4.5;
/** Below this contrast of black or white with a background, the colours of the terminal cannot be relied upon there. */
const MIDDLE_MAX = 12;

/** The colours of a theme on a background (null: unknown); undefined for the terminal's own colours. */
export function themeOf(
  name: ThemeName,
  found: Background | Colour | null,
  depth: ColourDepth,
): Theme | undefined {
  const colour = typeof found === 'object' ? found : null;
  const kind = typeof found === 'object' ? found && kindOfBackground(found) : found;
  const ground = name === 'light' || name === 'dark' ? name : kind;
  const named = name === 'high-contrast' || name === 'calm';
  if (ground === null && !named) return undefined;
  const most = ground === 'light' ? BLACK : WHITE;
  const stated = ground !== kind ? null : colour;
  const middle = stated !== null && contrast(stated, most) < MIDDLE_MAX;
  if (depth === 4 && middle) return Object.fromEntries(PAINTS.map((paint) => [paint, '39']));
  if (depth === 4) return SIXTEEN[ground ?? 'dark'];
  const own = COLOURS[named ? name : 'own'][ground ?? 'dark'];
  const colours = middle ? { ...COLOURS['high-contrast'][ground ?? 'dark'], ...own } : own;
  return Object.fromEntries(
    Object.entries(colours).map(([paint, hex]) => {
      const wanted = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
      for (let tenths = 0; ; tenths += 1) {
        const parts = wanted.map((part, at) => Math.round(part + (((most[at] ?? 0) - part) * tenths) / 10));
        const [number, near] = nearest(parts);
        const is_read = stated === null || contrast(depth === 24 ? parts : near, stated) >= CONTRAST_MIN;
        if (is_read || tenths === 10)
          return [paint, depth === 24 ? `38;2;${parts.join(';')}` : `38;5;${number}`];
      }
    }),
  );
}

const STEPS = [0, 95, 135, 175, 215, 255];

/** The nearest of the 256 colours that every terminal has, a cube of six steps and 24 greys: its number, and itself. */
function nearest(parts: Colour): readonly [number, Colour] {
  const steps = parts.map((part) => closest(STEPS, part));
  const cube = 16 + 36 * (steps[0] ?? 0) + 6 * (steps[1] ?? 0) + (steps[2] ?? 0);
  const average = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  const grey = Math.min(23, Math.max(0, Math.round((average - 8) / 10)));
  const far = (of: readonly number[]) =>
    parts.reduce((sum, part, at) => sum + (part - (of[at] ?? 0)) ** 2, 0);
  const value = 8 + grey * 10;
  const [by_grey, by_cube] = [[value, value, value], steps.map((step) => STEPS[step] ?? 0)];
  return far(by_grey) < far(by_cube) ? [232 + grey, by_grey] : [cube, by_cube];
}

function closest(steps: readonly number[], part: number): number {
  const distances = steps.map((step) => Math.abs(step - part));
  return distances.indexOf(Math.min(...distances));
}
