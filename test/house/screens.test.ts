// Proves that the documents hold the pictures of the terminal UI, and that the recording in the README shows a real session.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import xterm from '@xterm/headless';
import { markedBlocks, withMarkedBlocks } from '../../scripts/marked-blocks.ts';

const PICTURES: Readonly<Record<string, RegExp>> = {
  'screen-fan-in': /wait 3 agents .*1 received · 1 at work · 1 idle.*\n.*◐ file-reader/,
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

it('docs/tui.md shows every screen', () => {
  const blocks = blocksOf('docs/tui.md');
  for (const [name, shows] of Object.entries(PICTURES)) assert.match(blocks.get(name) ?? '', shows);
});

/** By recording: the page that shows it, how long it takes at least (s), and texts that it must show, in this order. */
const RECORDINGS = {
  session: {
    page: 'README.md',
    folder: 'docs/images/',
    seconds: 90,
    moments: [
      'wait 3 agents',
      'test-runner wants: bash',
      'allow from now on: bash:npm test',
      'interrupted by you',
      'No pool, please',
      'main wants: patch',
      'handles left open',
      ' by main',
    ],
  },
  'time-machine': {
    page: 'docs/time-machine.md',
    folder: 'images/',
    seconds: 30,
    moments: [
      'Plan: order first',
      'Three are left',
      'it rests',
      'Plan: sell now',
      'first difference',
      'write plan.txt',
      'best: scripted:../bold.json',
    ],
  },
} as const;

for (const [name, { page, folder, seconds, moments }] of Object.entries(RECORDINGS)) {
  it(`the recording of ${page} plays in a terminal, and has its moments in order`, async () => {
    assert.ok(read(page).includes(`docs/images/${name}.cast`));
    const [header = '', ...lines] = read(`docs/images/${name}.cast`).trimEnd().split('\n');
    const { version, width, height } = JSON.parse(header);
    assert.equal(version, 2);
    const terminal = new xterm.Terminal({ cols: width, rows: height, allowProposedApi: true });
    let [before, seen] = [0, 0];
    for (const line of lines) {
      const [at, kind, text] = JSON.parse(line) as [number, string, string];
      assert.ok(kind === 'o' && at >= before, line);
      before = at;
      await new Promise<void>((written) => terminal.write(text, written));
      const { active } = terminal.buffer;
      const screen = Array.from({ length: height }, (_, row) =>
        active.getLine(active.baseY + row)?.translateToString(),
      ).join('\n');
      if (screen.includes(moments[seen] ?? '\0')) seen += 1;
    }
    assert.equal(moments[seen], undefined);
    assert.ok(before > seconds);
  });

  for (const ground of ['light', 'dark'])
    it(`the moving picture of ${page}, ${ground}, shows these moments`, () => {
      assert.ok(read(page).includes(`"${folder}${name}-${ground}.svg"`));
      const picture = read(`docs/images/${name}-${ground}.svg`);
      const drawn = [...picture.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);
      for (const moment of moments)
        assert.ok(drawn.join(' ').replaceAll(/ +/g, ' ').includes(moment), moment);
    });
}

it('a block is replaced between its markers, and nothing else is touched', () => {
  const document = 'a\n<!-- one -->\nold\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n';
  const next = withMarkedBlocks(document, new Map([['one', 'new $& text']]));
  assert.equal(next, 'a\n<!-- one -->\n\nnew $& text\n\n<!-- /one -->\nb\n<!-- two -->\n<!-- /two -->\n');
});
