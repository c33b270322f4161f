// Proves that Markdown becomes lines that fit, whatever a model writes: while it streams, in any style, hostile or huge.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { markdown as batches, MarkdownTail } from '../../../src/tui/text/markdown.ts';
import { cutPieces, type Piece } from '../../../src/tui/text/markdown-pieces.ts';
import { ASCII, COLOUR, drawn, fits, HOSTILE, isHarmless, LOOKS, PLAIN, SPOKEN } from '../ui-fixture.ts';

const markdown = (...args: Parameters<typeof batches>): readonly string[] => drawn(batches(...args));

const DOCUMENT = [
  '# Title',
  '',
  'Some **bold** text and 한글 wide text that goes over the end of the line.',
  '',
  '| key | 名前 |',
  '| --- | --- |',
  '| x | y 🎉 |',
  '',
  '- one',
  '  - inner',
  '',
  '  more of one',
  '- two',
  '  ```sh',
  '  ls',
  '',
  '  pwd',
  '  ```',
  '',
  '> quoted',
  '> twice',
  '',
  'text',
  '```ts',
  'const a = 1;',
  '',
  'function f() {}',
  '```',
  'after [a link](http://example.org)',
  '',
  '1. first',
  '',
  '2. second',
].join('\n');

it('shows headings, tables, lists, quotes, code, links and wide characters', () => {
  assert.deepEqual(markdown(DOCUMENT, 40, PLAIN), [
    'Title',
    '',
    'Some bold text and 한글 wide text that',
    'goes over the end of the line.',
    '',
    '┌─────┬──────┐',
    '│ key │ 名前 │',
    '├─────┼──────┤',
    '│ x   │ y 🎉 │',
    '└─────┴──────┘',
    '',
    '- one',
    '    - inner',
    '',
    '  more of one',
    '',
    '- two',
    '    ls',
    '',
    '    pwd',
    '',
    '│ quoted',
    '│ twice',
    '',
    'text',
    '',
    '  const a = 1;',
    '',
    '  function f() {}',
    '',
    'after a link (http://example.org)',
    '',
    '1. first',
    '',
    '2. second',
  ]);
});

it('aligns the cells of a table as its separator row asks', () => {
  const source = '| name | n | mid |\n|:--|--:|:-:|\n| a | 7 | x |\n| bcd | 1234 | **wide** |';
  assert.deepEqual(markdown(source, 40, PLAIN), [
    '┌──────┬──────┬──────┐',
    '│ name │    n │ mid  │',
    '├──────┼──────┼──────┤',
    '│ a    │    7 │  x   │',
    '├──────┼──────┼──────┤',
    '│ bcd  │ 1234 │ wide │',
    '└──────┴──────┴──────┘',
  ]);
  const coloured = markdown(source.replace('| 7 |', '| **7** |'), 40, COLOUR);
  assert.equal(coloured[3], '│ a    │    \x1b[1m7\x1b[22m │  x   │');
});

it('draws tables and quotes in ASCII where box drawing is not available', () => {
  const source = '| a | b |\n| - | - |\n| x | y |\n\n> q';
  assert.deepEqual(markdown(source, 40, ASCII), [
    '+---+---+',
    '| a | b |',
    '+---+---+',
    '| x | y |',
    '+---+---+',
    '',
    '| q',
  ]);
  assert.deepEqual(markdown(source, 40, SPOKEN), ['a; b', 'x; y', '', 'q']);
});

it('colours code in known languages and leaves other code unchanged', () => {
  const lines = markdown('```ts\nconst a = "<x> & y";\n```\n```nosuch\nconst b\n```', 40, COLOUR);
  assert.equal(lines[0], '  \x1b[35mconst\x1b[39m a = \x1b[32m"<x> & y"\x1b[39m;');
  assert.equal(lines[2], '  const b');
});

it('ends colours of code at the end of the line', () => {
  const lines = markdown('```ts\n/* one\ntwo */\n```', 40, COLOUR);
  assert.deepEqual(lines, ['  \x1b[2m/* one\x1b[22m', '  \x1b[2mtwo */\x1b[22m']);
});

it('prints no fences, marks of headings or entities, except in code', () => {
  const text = '### Small\n\nA &amp; B &lt;b&gt; `&amp;`\n\n- x\n  ```\n  ### y &amp;\n  ```\n';
  assert.deepEqual(markdown(text, 40, PLAIN), ['Small', '', 'A & B <b> &amp;', '', '- x', '    ### y &amp;']);
});

it('a long block of code is finished row by row, in the colours that the whole has', () => {
  const rows = Array.from({ length: 60 }, (_, index) => `${index % 40 === 0 ? '/* ' : ''}row ${index}`);
  const text = `\`\`\`ts\n${rows.join('\n')}\n*/ const a = 1;\n\`\`\`\n`;
  const [growing, printed] = [new MarkdownTail(), [] as string[]];
  let from = 0;
  for (let end = 1; end <= text.length; end += 7) {
    const now = text.slice(0, end);
    for (let block = growing.finished(now, 40, COLOUR, from); block !== null; ) {
      printed.push(...block.lines);
      from = block.end;
      block = growing.finished(now, 40, COLOUR, from);
    }
    assert.ok(growing.lines(now, 40, COLOUR, 1_000, from).length <= 13, 'little is left to be drawn again');
  }
  const whole = markdown(text, 40, COLOUR);
  assert.ok(printed.length >= 48);
  assert.deepEqual(printed, whole.slice(0, printed.length));
  assert.equal(whole[41], '  \x1b[2mrow 41\x1b[22m');
});

describe('text that is being written', () => {
  for (const [name, style] of Object.entries(LOOKS))
    it(`shows at each moment what the whole would show (${name})`, () => {
      const growing = new MarkdownTail();
      for (let end = 0; end <= DOCUMENT.length; end += 1) {
        const text = DOCUMENT.slice(0, end);
        assert.deepEqual(
          growing.lines(text, 40, style, 1_000),
          markdown(text, 40, style),
          JSON.stringify(text),
        );
      }
    });

  it('shows code whose fence is not closed yet', () => {
    assert.deepEqual(markdown('```ts\nconst a', 40, PLAIN), ['  const a']);
    assert.deepEqual(markdown('```', 40, PLAIN), []);
  });

  it('renders only the last piece again, however much text precedes it', () => {
    const growing = new MarkdownTail();
    const before = growing.lines('one\n\ntwo\n\nthree', 40, PLAIN, 1_000);
    const after = growing.lines('one\n\ntwo\n\nthree and more', 40, PLAIN, 1_000);
    assert.deepEqual(before.slice(0, 4), after.slice(0, 4));
    const text = `${'word '.repeat(40)}\n\n`.repeat(5_000);
    const pieces = [...cutPieces(text, null)];
    const resumed = [...cutPieces(`${text}more`, pieces.at(-1) ?? null)];
    assert.ok(text.length > 1_000_000);
    assert.ok(resumed.length <= 2, `${resumed.length} pieces again`);
  });

  it('starts over when the text or the width changes', () => {
    const growing = new MarkdownTail();
    growing.lines('one two three', 40, PLAIN, 1_000);
    assert.deepEqual(growing.lines('four', 40, PLAIN, 1_000), ['four']);
    assert.deepEqual(growing.lines('four five', 4, PLAIN, 1_000), ['four', 'five']);
  });
});

it('splits text into pieces that lose nothing and are short enough to render', () => {
  const line = fc.constantFrom(
    'a',
    '',
    '  b',
    '- c',
    '```',
    '~~~ts',
    '> d',
    '| e |',
    'x'.repeat(9_000),
    '한'.repeat(5_000),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (rows) => {
      const text = rows.join('\n');
      const pieces = [...cutPieces(text, null)];
      assert.equal(pieces.map((piece) => text.slice(piece.start, piece.end)).join(''), text);
      for (const { start, end } of pieces) assert.ok(end - start <= 8_192 + 20);
    }),
  );
});

it('cuts a growing text where it cuts the whole one', () => {
  const line = fc.constantFrom(
    'a',
    '',
    '  b',
    '- c',
    '1. d',
    '```',
    '  ```',
    'x '.repeat(5_000),
    `🎉${'y '.repeat(5_000)}`,
  );
  const run = fc.tuple(line, fc.integer({ min: 1, max: 20 })).map(([row, count]) => Array(count).fill(row));
  const rows = fc.array(run, { minLength: 1, maxLength: 6 }).map((runs) => runs.flat());
  const step = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9_000 }));
  fc.assert(
    fc.property(rows, fc.infiniteStream(step), (all, steps) => {
      const text = all.join('\n');
      const grown: Piece[] = [];
      for (let end = 0; end < text.length; ) {
        end += steps.next().value ?? 1;
        const resumed = grown.pop() ?? null;
        grown.push(...cutPieces(text.slice(0, end), resumed));
      }
      const cuts = (of: Iterable<Piece>) => [...of].map(({ start, end, gap }) => [start, end, gap].join(' '));
      assert.deepEqual(cuts(grown), cuts(cutPieces(text, null)));
    }),
  );
});

describe('hostile text', () => {
  const patterns: Readonly<Record<string, string>> = {
    'quotes without end': `${'> '.repeat(8_000)}x`,
    'lists without end': `${'- '.repeat(8_000)}x`,
    brackets: '['.repeat(50_000),
    images: '![a]('.repeat(5_000),
    backticks: '`'.repeat(50_000),
    emphasis: '*a**b'.repeat(5_000),
    dollars: '$x_'.repeat(5_000),
    'one word of a megabyte': 'a'.repeat(1_000_000),
    'a table of many rows': `|a|b|\n|-|-|\n${'|x|y|\n'.repeat(5_000)}`,
    'a fence with a long name': `\`\`\`${'x'.repeat(500)}\ncode`,
  };
  for (const [name, text] of Object.entries(patterns))
    it(`survives ${name}`, () => {
      const lines = markdown(text, 30, PLAIN);
      assert.ok(lines.length > 0);
      fits(lines, 30);
    });

  it('unclosed emphasis is rendered quickly', () => {
    const start = process.cpuUsage();
    fits(markdown('**a **'.repeat(60_000), 30, PLAIN), 30);
    // The Markdown parser would take half a minute.
    assert.ok(process.cpuUsage(start).user < 6_000_000);
  });

  it('strips escape sequences everywhere', () => {
    const text = `${HOSTILE}\n\n\`\`\`ts\n${HOSTILE}\n\`\`\`\n\n| ${HOSTILE.replaceAll('\n', ' ')} | b |\n| - | - |\n| c | d |\n\n[x](http://a/\x1b[2J)`;
    for (const style of Object.values(LOOKS)) for (const line of markdown(text, 40, style)) isHarmless(line);
  });

  it('shows the target of a link', () => {
    assert.deepEqual(markdown('[http://good.example](http://evil.example)', 60, PLAIN), [
      'http://good.example (http://evil.example)',
    ]);
  });

  it('fits any width', () => {
    const part = fc.constantFrom(
      '# ',
      '**b**',
      '한글',
      '👩‍👩‍👧',
      'e\u0301',
      '\n',
      '\n\n',
      '- ',
      '> ',
      '```\n',
      '| a |',
      '|-|',
      'word ',
      '\t',
      '⚠️',
      '\x1b[31m',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.integer({ min: 2, max: 60 }), (parts, width) => {
        fits(markdown(parts.join(''), width, PLAIN), width);
      }),
      { numRuns: 300 },
    );
  });
});
