// Proves that long texts are split at natural places, and that a split breaks neither characters nor entities.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Entity, FormattedText } from '../../../src/channels/chat/formatted-text.ts';
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { splitText } from '../../../src/channels/chat/split-text.ts';
import { entityProblem } from '../../servers/telegram-entities.ts';

const plain = (text: string): FormattedText => ({ text, entities: [] });
const texts = (text: string, limit: number) => splitText(plain(text), limit).map((piece) => piece.text);

describe('long texts for Telegram', () => {
  it('are cut between paragraphs, else lines, else sentences, else words, else anywhere', () => {
    assert.deepEqual(texts('aaaa aaaa\n\nbb bb\nbb. bb', 18), ['aaaa aaaa', 'bb bb\nbb. bb']);
    assert.deepEqual(texts('aaaa. aaaa\nbb bb. bb bb', 18), ['aaaa. aaaa', 'bb bb. bb bb']);
    assert.deepEqual(texts('aaaa aaaa. bb bb bb bb', 18), ['aaaa aaaa.', 'bb bb bb bb']);
    assert.deepEqual(texts('aaaa aaaa bb bb bb bb', 18), ['aaaa aaaa bb bb bb', 'bb']);
    assert.deepEqual(texts('a'.repeat(40), 18), ['a'.repeat(18), 'a'.repeat(18), 'a'.repeat(4)]);
    assert.deepEqual(texts('short', 18), ['short']);
  });

  it('use a message to its last unit, and never give an empty one', () => {
    assert.deepEqual(texts('a'.repeat(18), 18), ['a'.repeat(18)]);
    assert.deepEqual(texts(`${'a'.repeat(18)} b`, 18), ['a'.repeat(18), 'b']);
    assert.deepEqual(texts('  \n\n ', 18), []);
    assert.deepEqual(texts(`a${'\n'.repeat(100)}b`, 18), ['a', 'b']);
    const [a, hidden, b] = ['a', '\u200b', 'b'].map((sign) => sign.repeat(18)) as [string, string, string];
    assert.deepEqual(texts(`${a}\n\n${hidden}\n\n${b}`, 18), [a, b]);
  });

  it('are never cut within a grapheme', () => {
    const family = '👩‍👩‍👧‍👦';
    for (const sign of [family, '🎉', 'e\u0301', '🇩🇪', '한', '👍🏽']) {
      const pieces = texts(sign.repeat(100), 4 * family.length + 3);
      assert.equal(pieces.join(''), sign.repeat(100));
      for (const piece of pieces) assert.equal(piece.replaceAll(sign, ''), '', JSON.stringify(piece));
    }
    const marked = `${'a'.repeat(10)} \u0301${'b'.repeat(20)}`;
    assert.equal(texts(marked, 14).join(''), marked, 'a space that carries a mark is no place to cut');
    const monster = `e${'\u0301'.repeat(50)}`;
    assert.equal(texts(monster, 18).join(''), monster);
    const pairs = `e${'\u{e0100}'.repeat(50)}`;
    for (const [limit, length] of [
      [18, 17],
      [17, 17],
      [2, 1],
    ] as const)
      assert.equal(texts(pairs, limit)[0]?.length, length, 'nor within a pair of surrogates');
    assert.deepEqual(texts('🎉🎉', 1), [...'🎉🎉'.split('')], 'a unit at a time makes progress');
  });

  it('split entities at a cut; code stays code on both sides, with its indentation', () => {
    const code = Array.from({ length: 12 }, (_, line) => `  line ${line}`).join('\n');
    const pieces = splitText(
      markdownEntities(`**bold** text of some length\n\n\`\`\`ts\n${code}\n\`\`\`\n\nend`),
      60,
    );
    assert.equal(pieces[0]?.text, 'bold text of some length');
    const blocks = pieces.flatMap(({ text, entities }) =>
      entities.flatMap((one) =>
        one.type === 'pre' ? [{ ...one, text: text.slice(one.offset, one.offset + one.length) }] : [],
      ),
    );
    assert.ok(blocks.length > 1);
    assert.equal(blocks.map(({ text }) => text).join('\n'), code);
    assert.ok(blocks.every(({ language }) => language === 'ts'));
  });

  it('keep the marks that matter where a message has too many', () => {
    const [piece] = splitText(markdownEntities(`${'*i* '.repeat(150)}\n\n\`\`\`\ncode\n\`\`\``), 4096);
    assert.equal(piece?.entities.length, 100);
    assert.ok(piece?.entities.some(({ type }) => type === 'pre'));
  });

  it('carry the same text and marks that Telegram takes, whatever they hold', () => {
    const word = fc.constantFrom(
      'word',
      'a',
      'end.',
      '👩‍👩‍👧',
      'e\u0301\u0301',
      '🎉',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '\n  ',
      '\u200d',
      '\u200b',
      'مرحبا',
      'x'.repeat(30),
      '\u0301',
    );
    const texts = fc.array(word, { maxLength: 80 }).map((words) => words.join(''));
    const ranges = fc.array(
      fc.tuple(fc.nat(400), fc.nat(80), fc.constantFrom('pre', 'bold', 'code', 'blockquote')),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, ranges, fc.integer({ min: 24, max: 120 }), (text, wanted, limit) => {
        const entities = apart(text, wanted);
        const pieces = splitText({ text, entities }, limit);
        const shown = (value: string) => value.replaceAll(/[\s\u200b\u200d]/g, '');
        assert.equal(shown(pieces.map((piece) => piece.text).join('')), shown(text));
        for (const piece of pieces) {
          assert.ok(piece.text.length <= limit && piece.text.trim() !== '');
          assert.ok(piece.text.isWellFormed());
          assert.equal(entityProblem(piece.text, piece.entities), null);
        }
        assertMarks({ text, entities }, pieces);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Returns entities that do not overlap and that begin and end at grapheme boundaries. */
function apart(text: string, wanted: readonly (readonly [number, number, string])[]): Entity[] {
  const places = [...new Intl.Segmenter().segment(text)].map(({ index }) => index);
  const entities: Entity[] = [];
  let free = 0;
  for (const [from, length, type] of wanted.toSorted((a, b) => a[0] - b[0])) {
    const start = places.find((place) => place >= Math.max(from, free));
    const end = places.findLast((place) => place <= from + length);
    if (start === undefined || end === undefined || end <= start) continue;
    entities.push({ type, offset: start, length: end - start } as Entity);
    free = end;
  }
  return entities;
}

/** Asserts that every visible character has the same entities as before. */
function assertMarks(whole: FormattedText, pieces: readonly FormattedText[]): void {
  const seen = ({ text, entities }: FormattedText) =>
    [...text].reduce<{ place: number; out: string[] }>(
      ({ place, out }, character) => {
        const types = entities.flatMap(({ type, offset, length }) =>
          offset <= place && place < offset + length ? [type] : [],
        );
        if (!/[\s\u200b\u200d]/.test(character)) out.push(`${character}${types.join()}`);
        return { place: place + character.length, out };
      },
      { place: 0, out: [] },
    ).out;
  assert.deepEqual(pieces.flatMap(seen), seen(whole));
}
