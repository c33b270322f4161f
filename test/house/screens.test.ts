// Proves that the documents hold the pictures of the terminal UI and the table of its keys, and that the table is the one of the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { keysTable } from '../../scripts/keys-table.ts';
import { markedBlocks, withMarkedBlocks } from '../../scripts/marked-blocks.ts';

const PICTURES: Readonly<Record<string, RegExp>> = {
  'screen-fan-in': /on 3 agents\n.*running.*\n.*received.*\n.*idle/,
  'screen-agents': /Agents 4/,
  'screen-approval': /wants: bash/,
  'screen-capture': /CAPTURE · 2 lines · not sent to main/,
  'screen-dead': /kill event: by you, 0 descendants/,
};

function blocksOf(document: string): ReadonlyMap<string, string> {
  return markedBlocks(readFileSync(join(import.meta.dirname, '..', '..', document), 'utf8'));
}

it('docs/tui.md shows every screen', () => {
  const blocks = blocksOf('docs/tui.md');
  for (const [name, shows] of Object.entries(PICTURES)) assert.match(blocks.get(name) ?? '', shows);
});

it('docs/tui.md has the keys that the program has; npm run screens writes them', () => {
  assert.equal(blocksOf('docs/tui.md').get('keys'), keysTable());
});

it('README.md shows the fan-in', () => {
  assert.match(blocksOf('README.md').get('screen-fan-in') ?? '', PICTURES['screen-fan-in'] as RegExp);
});

it('a block is replaced between its markers, and nothing else is touched', () => {
  const document = 'a\n<!-- one -->\nold\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n';
  const next = withMarkedBlocks(document, new Map([['one', 'new $& text']]));
  assert.equal(next, 'a\n<!-- one -->\n\nnew $& text\n\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n');
});
