// Proves that a long text is never drawn all at once: each frame draws a part, the next continues, and nothing is lost or printed twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askParts } from '../../../src/render/ask-parts.ts';
import { spellHiddenLine } from '../../../src/render/hidden-characters.ts';
import { EntryPrinter } from '../../../src/tui/printing/entry-printer.ts';
import { transcript } from '../../../src/tui/state/transcript.ts';
import { frameBudget } from '../../../src/tui/text/frame-budget.ts';
import { MarkdownTail, markdown } from '../../../src/tui/text/markdown.ts';
import { cutPieces } from '../../../src/tui/text/markdown-pieces.ts';
import { wrap, wrapInPieces } from '../../../src/tui/text/wrap.ts';
import { approvalBox } from '../../../src/tui/views/approvals/approval-box.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { entryBelow } from '../../../src/tui/views/transcript/entry-view.ts';
import { EntryLines, transcriptView } from '../../../src/tui/views/transcript/transcript-view.ts';
import { after, ask, COLOUR, drawn, PLAIN, says, story, user } from '../ui-fixture.ts';

const names = agentNames(story());
const FAMILY = '👩‍👩‍👧‍👦 ';
const code = (rows: number): string => `\`\`\`cpp\n${'int a = 1; // one\n'.repeat(rows)}\`\`\``;
const TEXTS: Readonly<Record<string, string>> = {
  prose: 'Some **bold** words and `code`.\n\n'.repeat(3_000),
  'one paragraph': 'word '.repeat(20_000),
  'one word': 'a'.repeat(100_000),
  emoji: FAMILY.repeat(6_000),
  'paragraphs of emoji': '👩‍👩‍👧\n\n'.repeat(6_000),
  code: code(4_000),
  'line breaks': `${'\n'.repeat(100_000)}a`,
};
const answers = (text: string) =>
  transcript([user('main', 1, 'go'), says('main', 2, text), says('main', 3, 'end')], 'main');
const always = (): boolean => true;
const never = (): boolean => false;

describe('a long answer', () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    it(`is drawn in batches (${name})`, () => {
      for (const piece of cutPieces(text, null)) {
        const source = text.slice(piece.start, piece.end);
        const most = piece.code !== null ? 4_096 : source.includes('\u200d') ? 2_048 : 8_192;
        assert.ok(source.length <= most + 20, `${source.length} characters at once`);
      }
    });

    it(`is printed over several frames, each line once (${name})`, () => {
      const entries = answers(text);
      const whole = entries.flatMap((entry, index) =>
        drawn(entryBelow(entry, entries[index - 1] ?? null, 40, COLOUR, names)),
      );
      const printer = new EntryPrinter(0);
      const settings = { width: 40, style: COLOUR, names, spend: always };
      const printed: string[] = [];
      let frames = 0;
      for (let goes_on = true; goes_on; frames += 1) {
        const { lines, whole: is_whole } = printer.lines(entries, entries.length, settings);
        for (const line of lines) printed.push(line);
        goes_on = !is_whole;
      }
      assert.deepEqual(printed, whole);
      assert.ok(frames > text.length / 8_192, `${frames} frames`);
      assert.deepEqual(printer.lines(entries, entries.length, settings), { lines: [], whole: true });
    });
  }

  it('fills a screen over several frames and keeps the position', () => {
    const entries = answers(TEXTS.emoji as string);
    const style = { width: 40, height: 20, scrolled: 300, style: PLAIN, names };
    const expected = transcriptView(entries, { ...style, kept: new EntryLines(), spend: never });
    const kept = new EntryLines();
    let shown = transcriptView(entries, { ...style, kept, spend: always });
    assert.equal(shown.whole, false);
    for (let frames = 0; !shown.whole; frames += 1) {
      assert.equal(shown.scrolled, 300);
      assert.ok(frames < 100);
      shown = transcriptView(entries, { ...style, kept, spend: always });
    }
    assert.deepEqual(shown, expected);
  });

  it('is drawn, while still being written, only as far up as it is visible', () => {
    for (const [name, text] of Object.entries(TEXTS)) {
      const all = drawn(markdown(text, 40, PLAIN));
      const tail = new MarkdownTail().lines(text, 40, PLAIN, 10);
      assert.deepEqual(tail, all.slice(-tail.length), name);
      assert.ok(tail.length >= Math.min(10, all.length), name);
      assert.ok(tail.length < 10 + 8_192, `${name}: ${tail.length} lines`);
    }
    const paragraphs = new MarkdownTail().lines(TEXTS.prose as string, 40, PLAIN, 10);
    assert.ok(paragraphs.length < 14, `${paragraphs.length} lines`);
  });
});

it('a frame draws no longer than its time budget', () => {
  let now = 0;
  const spend = frameBudget(() => now);
  assert.equal(spend(500), false);
  now = 9;
  assert.equal(spend(0), false);
  now = 10;
  assert.equal(spend(0), true);
  const other = frameBudget(() => now);
  now = 1_000;
  assert.equal(other(90), false, 'a screenful comes at once, however slow the machine is');
  assert.equal(other(0), false);
  assert.equal(other(0), true);
});

it('text rendered in pieces equals text rendered at once, as long as its lines are short', () => {
  const text = 'one two three four five\n\nsix\n'.repeat(2_000);
  assert.deepEqual(drawn(wrapInPieces(text, 12, PLAIN)), wrap(text, 12, PLAIN));
  assert.deepEqual(drawn(wrapInPieces('', 12, PLAIN)), wrap('', 12, PLAIN));
  const emoji = [...wrapInPieces(FAMILY.repeat(2_000), 40, PLAIN)];
  assert.ok(emoji.length > 10);
  assert.equal(emoji.flat().join('').replaceAll(' ', '').length, FAMILY.replaceAll(' ', '').length * 2_000);
});

describe('a call that a person must allow, with two million characters', () => {
  const texts = {
    emoji: FAMILY.repeat(150_000),
    lines: 'a\n'.repeat(600_000),
    hidden: '\u200b'.repeat(1_900_000),
  };
  for (const [name, content] of Object.entries(texts))
    it(`shows the beginning and the end, and looks at no more (${name})`, () => {
      const input = JSON.stringify({ path: 'f.txt', content: `BEGIN ${content} END` });
      const asked = { ...ask('a', 'main'), tool: 'write', subject: 'f.txt', input };
      const [, part] = askParts(asked, 6_000);
      assert.equal(part?.left_out, content.length + 10 - 6_000);
      assert.ok((part?.text.length ?? 0) < 60_000);
      const state = after(story(), { type: 'asks', asks: [asked] });
      const start = process.cpuUsage();
      const box = approvalBox(
        state,
        { since: 0, saying: null, grant: null, held: null, page: 0 },
        80,
        20,
        PLAIN,
      ).join('\n');
      // Drawing all of the emoji would take seven seconds.
      assert.ok(process.cpuUsage(start).user < 1_500_000);
      assert.match(box, /BEGIN/);
      assert.match(box, /END/);
      assert.match(box, / characters/);
    });

  it('shows the beginning and the end of twenty thousand arguments', () => {
    const given = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`a${index}`, 'x']));
    const parts = askParts(
      { ...ask('a', 'main'), tool: 'dig', subject: '', input: JSON.stringify(given) },
      100,
    );
    assert.equal(parts.length, 51);
    assert.match(parts.at(-1)?.text ?? '', /^\[… 19950 more arguments, \d+ characters …\]$/);
  });

  it('says on one line what is left out', () => {
    const line = spellHiddenLine(`echo ${' '.repeat(500_000)}rm -rf / ${' '.repeat(500_000)}end`, 200);
    assert.match(line, /^echo\[\d+ spaces\]\[… 990017 characters …\]\[\d+ spaces\]end$/);
    assert.ok(line.length < 250);
  });
});
