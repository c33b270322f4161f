// Proves that the documents hold the pictures of the terminal UI, and that the drawing in the README is one of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { markedBlocks, withMarkedBlocks } from '../../scripts/marked-blocks.ts';

const PICTURES: Readonly<Record<string, RegExp>> = {
  'screen-fan-in': /on 3 agents\n.*running.*\n.*received.*\n.*idle/,
  'screen-agents': /Agents 4/,
  'screen-approval': /wants: bash/,
  'screen-grant': /allow from now on: bash:rm -rf dist/,
  'screen-capture': /CAPTURE · 2 lines · not sent to main/,
  'screen-dead': /kill event: by you, 0 descendants/,
};

function read(document: string): string {
  return readFileSync(join(import.meta.dirname, '..', '..', document), 'utf8');
}

function blocksOf(document: string): ReadonlyMap<string, string> {
  return markedBlocks(read(document));
}

/** Without blanks, and without the sign that is drawn as a line. */
function letters(text: string): string {
  return text.replaceAll(/[\s⑂]/g, '');
}

it('docs/tui.md shows every screen', () => {
  const blocks = blocksOf('docs/tui.md');
  for (const [name, shows] of Object.entries(PICTURES)) assert.match(blocks.get(name) ?? '', shows);
});

for (const ground of ['light', 'dark'])
  it(`the picture of the README, ${ground}, is the screen of docs/tui.md`, () => {
    const file = `docs/images/terminal-${ground}.svg`;
    assert.ok(read('README.md').includes(`"${file}"`));
    const drawn = [...read(file).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
    const screen = (blocksOf('docs/tui.md').get('screen-fan-in') ?? '').replaceAll(/^```.*$/gm, '');
    assert.equal(letters(drawn.join('').replaceAll('&gt;', '>')), letters(screen));
  });

it('a block is replaced between its markers, and nothing else is touched', () => {
  const document = 'a\n<!-- one -->\nold\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n';
  const next = withMarkedBlocks(document, new Map([['one', 'new $& text']]));
  assert.equal(next, 'a\n<!-- one -->\n\nnew $& text\n\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n');
});
