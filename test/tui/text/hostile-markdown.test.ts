// Proves that no Markdown or code from a model blocks the terminal or Telegram: text that would take seconds to parse is shown unparsed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { isCostlyMarkdown, MARKED_MAX } from '../../../src/render/markdown/costly-markdown.ts';
import { markdown } from '../../../src/tui/text/markdown.ts';

const style = { colour: true, unicode: true, accessible: false };
const long = (text: string, length = 60_000) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
/** Generous upper bound: bounded work takes a tenth of it, unbounded work many seconds. */
const PROMPT_MS = 1_500;

function promptly(name: string, what: () => unknown): void {
  const start = process.cpuUsage();
  what();
  const { user, system } = process.cpuUsage(start);
  assert.ok((user + system) / 1_000 < PROMPT_MS, `${name}: ${(user + system) / 1_000} ms of the processor`);
}

const HOSTILE: Readonly<Record<string, string>> = {
  'quotes in quotes': long(`${'> '.repeat(12)}a\n`),
  'quotes that go on without a sign': long('> a\nb\n'),
  'lists in lists, line by line': Array.from({ length: 3_000 }, (_, at) => `${'  '.repeat(at % 19)}- x`).join(
    '\n',
  ),
  'what is crossed out and never ends': long('~a ~~b'),
  addresses: long('a@b.c '),
  cells: `${long('|a', 3_000)}|\n${long('|-', 3_000)}|\n${long('|x|\n')}`,
  escapes: long('\\a'),
  paragraphs: long('- a\n\n'),
  'a long line of code': `\`\`\`ini\n${long('0a', 8_000)}\n\`\`\``,
};

for (const [name, text] of Object.entries(HOSTILE))
  test(name, () => {
    for (const width of [12, 100])
      promptly(`the terminal, ${width} wide`, () => [...markdown(text, width, style)]);
    for (const length of [text.length, MARKED_MAX])
      promptly(`Telegram, ${length}`, () => markdownEntities(text.slice(0, length)));
  });

test('renders long lists, tables and code among text in bounded time', () => {
  const item = '- **A point** with `code`, a [link](https://example.com/a) and _some_ words about it.\n';
  const row = '| a cell | another | 1,234 | 5.6 % |\n';
  const quote = '> A quotation > with a sign\n> > and one inside of it.\n\n';
  for (const text of [long(item, 20_000), long(row, 8_000), long(quote, 3_000)])
    assert.equal(isCostlyMarkdown(text), false);
  assert.ok(markdownEntities(long(item, 20_000)).entities.length > 500);
  assert.doesNotMatch([...markdown(long(item, 20_000), 100, style)].flat().join('\n'), /\*\*/);
});
