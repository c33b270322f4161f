// Proves that addresses become terminal links, complete even where they wrap, that only harmless ones do, and that the visible text stays the same.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { UiStyle } from '../../../src/render/style.ts';
import { EMPTY_UI } from '../../../src/tui/state/ui-state.ts';
import { hasLinks } from '../../../src/tui/text/links.ts';
import { markdown } from '../../../src/tui/text/markdown.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { entryView } from '../../../src/tui/views/transcript/entry-view.ts';
import { COLOUR, drawn, PLAIN } from '../ui-fixture.ts';

const ESC = '\u001b';
const open = (target: string) => `${ESC}]8;;${target}${ESC}\\`;
const linked = (text: string, width = 60) => drawn(markdown(text, width, { ...PLAIN, links: true }));

it('links whole addresses, without what the sentence adds', () => {
  assert.deepEqual(linked('See https://a.example/x?y=1. And (file:///tmp/a).'), [
    `See ${open('https://a.example/x?y=1')}https://a.example/x?y=1${open('')}. And (${open('file:///tmp/a')}file:///tmp/a${open('')}).`,
  ]);
  const [line = ''] = linked('[text](https://b.example/z)');
  assert.equal(stripVTControlCharacters(line), 'text (https://b.example/z)');
  assert.ok(line.includes(open('https://b.example/z')));
});

it('of a broken address every part leads to the whole', () => {
  const address = `https://a.example/${'path/'.repeat(12)}end`;
  const text = `go: ${address} now`;
  const notice = { type: 'say', seq: 1, text, tone: 'plain' } as const;
  const draws = [
    (style: UiStyle) => markdown(text, 30, style),
    (style: UiStyle) => entryView(notice, 30, style, agentNames(EMPTY_UI)),
  ];
  for (const [draw, style] of draws.flatMap((one) => [PLAIN, COLOUR].map((style) => [one, style] as const))) {
    const lines = drawn(draw({ ...style, links: true }));
    const plain = drawn(draw(style));
    assert.deepEqual(lines.map(stripVTControlCharacters), plain.map(stripVTControlCharacters));
    const parts = lines
      .join('')
      .split(open(address))
      .slice(1)
      .map((part) => part.split(open(''))[0]);
    assert.equal(stripVTControlCharacters(parts.join('')), address);
    assert.ok(parts.length >= 3);
  }
});

it('links nothing of another scheme, and nothing that breaks out of the sequence', () => {
  for (const text of [
    'javascript:alert(1)',
    'ssh://a.example',
    `https${ESC}]8;;http://evil.example${ESC}\\x`,
  ])
    assert.ok(!linked(text).join('').includes(']8;;http://evil'), text);
  assert.ok(
    !linked(`https://${'a'.repeat(3_000)}`)
      .join('')
      .includes(']8;'),
  );
  assert.deepEqual(linked('no address'), ['no address']);
  assert.deepEqual(
    drawn(markdown('https://a.example', 40, PLAIN)),
    ['https://a.example'],
    'only where it is asked for',
  );
});

it('is on where the terminal is known to have links', () => {
  for (const env of [{ TERM_PROGRAM: 'vscode' }, { VTE_VERSION: '7600' }, { KITTY_WINDOW_ID: '1' }])
    assert.equal(hasLinks(env), true);
  for (const env of [
    {},
    { TERM: 'dumb', WT_SESSION: 'x' },
    { TERM: 'screen', KITTY_WINDOW_ID: '1' },
    { VTE_VERSION: '4000' },
  ])
    assert.equal(hasLinks(env), false);
});
