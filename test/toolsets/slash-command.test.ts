// Proves that a slash command is split as a shell splits it: any text that is quoted comes back to the letter, and what is not closed is named.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { joinWords, slashWords } from '../../src/toolsets/slash-command.ts';

function words(line: string): readonly string[] {
  const split = slashWords(line);
  assert.ok(split.ok, `${JSON.stringify(line)} is not refused`);
  return split.words.map((word) => word.text);
}

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const double = (text: string): string => `"${text.replace(/[\\"$`]/g, '\\$&')}"`;
/** A backslash before every character; a newline cannot be written so. */
const escaped = (text: string): string =>
  text === '' ? "''" : Array.from(text, (char) => (char === '\n' ? "'\n'" : `\\${char}`)).join('');

/** Any text without lone surrogates, with much of what quoting is about. */
const anyText = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom("'", '"', '\\', '$', '`', '\n', ' ', '\t', '\r', '#', '~', '*', '{'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('🌳', 'é', '\u00a0', '\u2028', '\u3000', '\ufeff', '\0', '文', '👩‍👩‍👧'),
      },
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').toWellFormed());

const quoting = fc.constantFrom(single, double, escaped);

describe('words of a slash command', () => {
  it('blanks, tabs and line ends separate; no other white space does', () => {
    assert.deepEqual(words(''), []);
    assert.deepEqual(words(' \t\n '), []);
    assert.deepEqual(words('  send\tx \r\n y  '), ['send', 'x', 'y']);
    assert.deepEqual(words('a\u00a0b c\u3000d e\u2028f'), ['a\u00a0b', 'c\u3000d', 'e\u2028f']);
  });

  it('quotes keep what they hold, and what touches is one word', () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [`'a  b' "c  d"`, ['a  b', 'c  d']],
      [`a'b c'd"e f"g`, ['ab cde fg']],
      [`'' ""`, ['', '']],
      [`'it'\\''s'`, ["it's"]],
      [`"say \\"hi\\""`, ['say "hi"']],
      [`'a\\nb' "a\\nb"`, ['a\\nb', 'a\\nb']],
      [`"\\\\ \\$ \\\` \\x"`, ['\\ $ ` \\x']],
      [`a\\ b \\\\ \\' \\"`, ['a b', '\\', "'", '"']],
      ['one\\\ntwo "three\\\nfour" \'five\\\nsix\'', ['onetwo', 'threefour', 'five\\\nsix']],
      ['\\🌳\\🌳', ['🌳🌳']],
      [
        'a#b $HOME `x` $(x) * ~ ; | & < >',
        ['a#b', '$HOME', '`x`', '$(x)', '*', '~', ';', '|', '&', '<', '>'],
      ],
    ];
    for (const [line, expected] of cases) assert.deepEqual(words(line), expected, line);
  });

  it('any text that is quoted comes back to the letter, in whichever way it is quoted', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, quoting), { maxLength: 6 }), (parts) => {
        const line = parts.map(([text, quote]) => quote(text)).join(' ');
        assert.deepEqual(
          words(line),
          parts.map(([text]) => text),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('one word may be quoted piece by piece', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, quoting), { minLength: 1, maxLength: 6 }), (parts) => {
        const line = parts.map(([text, quote]) => quote(text)).join('');
        assert.deepEqual(words(line), [parts.map(([text]) => text).join('')]);
      }),
      { numRuns: 1000 },
    );
  });

  it('a real shell splits the same lines into the same words', () => {
    // No expansions and no operators: those have no meaning in a slash command. NUL cannot be in a shell's arguments.
    const plain = fc.constantFrom(
      'a',
      'bc',
      '-x',
      '🌳',
      'é',
      '\u00a0',
      '\u3000',
      '=',
      ',',
      '%',
      '@',
      '+',
      '{}',
      ']',
    );
    const inner = anyText.map((text) => text.replaceAll('\0', ''));
    const piece = fc.oneof(
      plain,
      fc.tuple(inner, quoting).map(([text, quote]) => quote(text)),
      fc.constantFrom('\\\n', "''", '""', '"\\x\\\n"'),
    );
    const blank = fc.constantFrom(' ', '\t', '   ', ' \t');
    // A newline ends a command in a shell; here it is a blank like the others.
    const line = fc
      .array(fc.tuple(blank, fc.array(piece, { minLength: 1, maxLength: 4 })), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([between, pieces]) => between + pieces.join('')).join(''));
    const sample = fc.sample(line, { numRuns: 400, seed: 7 }).filter((one) => words(one).length > 0);
    assert.ok(sample.length > 300);
    const script = sample.map((one) => `printf '%s\\0' ${one}\nprintf '\\001\\0'\n`).join('');
    const out = execFileSync('/bin/sh', ['-c', script], {
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
      maxBuffer: 1 << 26,
    });
    const said = out.split('\x01\0').slice(0, -1);
    assert.equal(said.length, sample.length);
    for (const [index, one] of sample.entries())
      assert.deepEqual(words(one), said[index]?.split('\0').slice(0, -1), JSON.stringify(one));
  });

  it('a quote that is not closed is named with its place, counted from 1', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [`'`, /^the single quote at character 1 is not closed$/],
      [`send x 'half`, /^the single quote at character 8 is not closed$/],
      [`send x it's`, /^the single quote at character 10 is not closed$/],
      [`fork "a 'b' c`, /^the double quote at character 6 is not closed$/],
      [`fork "a" "b\\"`, /^the double quote at character 10 is not closed$/],
      [`'a\\' 'b`, /^the single quote at character 6 is not closed$/],
    ];
    for (const [line, expected] of cases) {
      const split = slashWords(line);
      assert.ok(!split.ok, line);
      assert.match(split.error, expected);
    }
  });

  it('a line end that a backslash takes away makes no word', () => {
    assert.deepEqual(words('a \\\n b \\\n'), ['a', 'b']);
    assert.deepEqual(words("a \\\n'' b"), ['a', '', 'b']);
  });

  it('each word is known by where it begins, and the blanks before it are kept', () => {
    const line = ` send\t'x'  {"a": 1}`;
    const split = slashWords(line);
    assert.ok(split.ok);
    assert.deepEqual(
      split.words.map(({ text, start, blanks }) => [text, line.slice(start, start + 3), blanks]),
      [
        ['send', 'sen', ' '],
        ['x', "'x'", '\t'],
        ['{a:', '{"a', '  '],
        ['1}', '1}', ' '],
      ],
    );
  });

  it('words that are joined again have the blanks and lines that stood between them', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const plain = text.replace(/['"\\]/g, '').replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
        const split = slashWords(plain);
        assert.ok(split.ok);
        assert.equal(joinWords(split.words), plain);
      }),
      { numRuns: 1000 },
    );
    const split = slashWords("Report:\n  - 'one  and'\n\n  - two");
    assert.ok(split.ok);
    assert.equal(joinWords(split.words), 'Report:\n  - one  and\n\n  - two');
  });
});
