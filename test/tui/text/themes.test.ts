/** Proves that every colour of every theme is readable on the usual backgrounds of its kind, in 24-bit and in 256 colours. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UiStyle } from '../../../src/render/style.ts';
import { codeColours, markdown } from '../../../src/tui/text/markdown.ts';
import { COLOURS, THEMES, themeOf } from '../../../src/tui/text/themes.ts';

const GROUNDS = {
  dark: ['#000000', '#0d1117', '#1e1e1e', '#282c34', '#002b36', '#2e3440', '#300a24'],
  light: ['#ffffff', '#fdf6e3', '#eeeeee'],
} as const;

/** Backgrounds, green, yellow and cyan of xterm, VS Code, Windows Terminal, Ubuntu, Solarized, One Dark. */
const OWN = [
  ['#000000', '#00cd00', '#cdcd00', '#00cdcd'],
  ['#1e1e1e', '#0dbc79', '#e5e510', '#11a8cd'],
  ['#0c0c0c', '#13a10e', '#c19c00', '#3a96dd'],
  ['#300a24', '#4e9a06', '#c4a000', '#06989a'],
  ['#002b36', '#859900', '#b58900', '#2aa198'],
  ['#282c34', '#98c379', '#e5c07b', '#56b6c2'],
] as const;

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function hexOf(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the colour that a terminal shows for these SGR parameters. */
function shown(code: string): string {
  const [, kind, ...rest] = code.split(';').map(Number);
  if (kind === 2) return hexOf(rest);
  const number = rest[0] ?? 0;
  if (number >= 232) return hexOf([1, 1, 1].map(() => 8 + (number - 232) * 10));
  const steps = [0, 95, 135, 175, 215, 255];
  const at = number - 16;
  return hexOf([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => steps[step] ?? 0));
}

describe('every colour can be read', () => {
  for (const name of THEMES.filter((one) => one !== 'light' && one !== 'dark'))
    for (const ground of ['dark', 'light'] as const)
      for (const depth of [24, 8] as const)
        it(`${name} on ${ground}, ${depth} bits`, () => {
          const least = name !== 'high-contrast' ? 4.5 : depth === 24 ? 7 : 5.5;
          for (const [paint, code] of Object.entries(themeOf(name, ground, depth) ?? {}))
            for (const background of GROUNDS[ground]) {
              const found = contrast(shown(code), background);
              assert.ok(found >= least, `${paint} on ${background}: ${found.toFixed(2)}`);
            }
        });

  for (const depth of [24, 8] as const)
    it(`on any grey and on colours between dark and light, ${depth} bits`, () => {
      const greys = Array.from({ length: 52 }, (_, step) => [step * 5, step * 5, step * 5]);
      const grounds = [...greys, [0, 128, 128], [128, 0, 128], [90, 110, 70], [200, 170, 120], [0, 255, 0]];
      for (const name of ['auto', 'high-contrast', 'calm'] as const)
        for (const ground of grounds)
          for (const [paint, code] of Object.entries(themeOf(name, ground, depth) ?? {})) {
            const found = contrast(shown(code), hexOf(ground));
            assert.ok(found >= 4.5, `${paint} of ${name} on ${ground.join(' ')}: ${found.toFixed(2)}`);
          }
      assert.equal(themeOf('auto', [128, 128, 128], 4)?.red, '39', 'sixteen unknown colours are left out');
      assert.equal(themeOf('auto', [0, 0, 0], 4)?.blue, '96', 'xterm’s bright blue is too dark');
    });

  it('the terminal’s own green, yellow and cyan on dark', () => {
    const kept = ['green', 'yellow', 'cyan'].filter((paint) => !(paint in COLOURS.own.dark));
    assert.equal(kept.length, 3);
    for (const [background, ...colours] of OWN)
      for (const colour of colours) assert.ok(contrast(colour, background) >= 4.5, `${colour} ${background}`);
  });
});

it('leaves the colours to the terminal where nothing is known of it', () => {
  assert.equal(themeOf('auto', null, 24), undefined);
  assert.deepEqual(themeOf('light', 'dark', 8), themeOf('auto', 'light', 8));
  assert.deepEqual(themeOf('dark', 'light', 8), themeOf('auto', 'dark', 8));
  assert.equal(themeOf('calm', null, 24)?.red, '38;2;229;163;163');
  assert.equal(themeOf('calm', 'light', 8)?.dim, '38;5;59');
  assert.equal(themeOf('calm', 'light', 4)?.red, '31');
});

it('paints all of an answer and its code on a light background in colours that are not the terminal’s', () => {
  const style: UiStyle = {
    ...{ colour: true, unicode: true, accessible: false },
    theme: themeOf('auto', 'light', 8),
  };
  const text =
    '# Head\n\n> quoted `code` and [a link](https://example.com)\n\n- one\n\n---\n\n```ts\nconst a = /x/; // why\n```\n\n| a | b |\n| - | - |\n| **1** | 2 |\n';
  const code = codeColours(
    '@a\nclass A extends B { x = 1; f() { return "s"; } } // c\nimport x from "y"; null',
    'ts',
    style,
  );
  const diff = codeColours('+ added\n- gone', 'diff', style);
  const lines = [...[...markdown(text, 60, style)].flat(), ...code, ...diff].join('\n');
  const codes = new Set([...lines.matchAll(/\p{Cc}\[([\d;]*)m/gu)].map(([, code]) => code));
  const themed = new Set(Object.values(style.theme ?? {}));
  const plain = new Set(['0', '1', '3', '4', '9', '22', '23', '24', '29', '39']);
  assert.deepEqual(
    [...codes].filter((code) => code !== undefined && !themed.has(code) && !plain.has(code)),
    [],
  );
  assert.ok([...themed].filter((code) => codes.has(code)).length >= 6);
});
