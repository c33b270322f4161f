// Proves that Markdown becomes plain text and entities that Telegram accepts, and that no character is lost, whatever a model writes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { markdownEntities } from '../../../src/channels/chat/markdown-entities.ts';
import { MARKED_MAX } from '../../../src/render/markdown/costly-markdown.ts';
import { entityProblem } from '../../servers/telegram-entities.ts';

/** Entities as `type:text`, in order. */
function marks(markdown: string): string[] {
  const { text, entities } = markdownEntities(markdown);
  assert.equal(entityProblem(text, entities), null, JSON.stringify({ text, entities }));
  return entities.map((entity) => {
    const extra = 'url' in entity ? `(${entity.url})` : 'language' in entity ? `(${entity.language})` : '';
    return `${entity.type}${extra}:${text.slice(entity.offset, entity.offset + entity.length)}`;
  });
}

const textOf = (markdown: string) => markdownEntities(markdown).text;
const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}\p{Extended_Pictographic}]/gu, '');

describe('Markdown for Telegram', () => {
  it('marks what is bold, italic, struck and code, within each other', () => {
    assert.equal(textOf('**a *b* `c` d** ~~e~~ __f__ _g_'), 'a b c d e f g');
    assert.deepEqual(marks('**a *b* `c` d** ~~e~~ __f__ _g_'), [
      'bold:a b ',
      'italic:b',
      'code:c',
      'bold: d',
      'strikethrough:e',
      'bold:f',
      'italic:g',
    ]);
  });

  it('makes headings bold, and keeps what is marked within them', () => {
    assert.equal(textOf('# One **two** `x`\n\ntext'), 'One two x\n\ntext');
    assert.deepEqual(marks('# One **two** `x`\n\ntext'), ['bold:One two ', 'code:x']);
  });

  it('shows code blocks with their language, verbatim', () => {
    const code = '```ts\nconst a = `**b**`;\n\n\tif (a < b) <i>\n```';
    assert.equal(textOf(code), 'const a = `**b**`;\n\n\tif (a < b) <i>');
    assert.deepEqual(marks(code), [`pre(ts):${textOf(code)}`]);
    assert.deepEqual(marks('~~~\nx\n~~~\n\n    indented'), ['pre:x', 'pre:indented']);
    assert.equal(textOf('```ts title="a b"\nx\n```'), 'title="a b"\nx');
    assert.equal(textOf('~~~a a\n> '), 'a\n> ');
  });

  it('reads every kind of line end alike', () => {
    const markdown = '# One\n\n- a\n- **b**\n\n```ts\nx\ny\n```\nlast';
    for (const end of ['\r\n', '\r'])
      assert.deepEqual(markdownEntities(markdown.replaceAll('\n', end)), markdownEntities(markdown));
  });

  it('keeps the blank lines between blocks, and adds none', () => {
    for (const [markdown, text] of [
      ['# One\ntext', 'One\ntext'],
      ['# One\n\ntext', 'One\n\ntext'],
      ['text\n# One', 'text\nOne'],
      ['text\n\n\n# One', 'text\n\nOne'],
      ['<b>\n\ntext', '<b>\n\ntext'],
      ['---\n# One\n---', '———\nOne\n———'],
    ] as const)
      assert.equal(textOf(markdown), text);
  });

  it('is read up to its maximum length; what is longer, or would hold the process, stands as written', () => {
    const longest = `**b** ${'x'.repeat(MARKED_MAX - 6)}`;
    assert.deepEqual(marks(longest), ['bold:b']);
    for (const text of [`${longest}x`, `${'> '.repeat(8)}**b**`])
      assert.deepEqual(markdownEntities(text), { text, entities: [] });
  });

  it('links to http, https, mailto and tg only; the rest stands as it was written', () => {
    assert.deepEqual(marks('[a](https://x.org/ä) [b](mailto:a@b.c) [**c**](tg://user?id=1)'), [
      'text_link(https://x.org/%C3%A4):a',
      'text_link(mailto:a@b.c):b',
      'text_link(tg://user?id=1):c',
      'bold:c',
    ]);
    for (const target of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:text/html,x',
      '../src/a.ts',
      '//x.org',
    ])
      assert.deepEqual([textOf(`[a](${target})`), marks(`[a](${target})`)], [`[a](${target})`, []]);
    assert.equal(
      textOf('see http://x.org/a_b_c and <https://y.org>'),
      'see http://x.org/a_b_c and https://y.org',
    );
    assert.deepEqual(marks('![picture](http://x.org/y.png)'), ['text_link(http://x.org/y.png):picture']);
    assert.equal(textOf('[ ](http://x.org)'), '[ ](http://x.org)');
  });

  it('writes lists with bullets, numbers and boxes, those within others indented', () => {
    const list = '- a\n- b **c**\n  1. d\n  2. e\n     more\n- [ ] f\n- [x] g\n\n3. h\n4. i';
    assert.equal(textOf(list), '• a\n• b c\n  1. d\n  2. e\n     more\n☐ f\n☑ g\n\n3. h\n4. i');
    assert.deepEqual(marks(list), ['bold:c']);
    assert.equal(textOf('- a\n\n  ```\n  code\n  ```\n- b'), '• a\n\ncode\n\n• b');
  });

  it('merges nested quotations into one, with code inside', () => {
    const quote = '> a **b**\n> > c\n>\n> ```\n> d\n> ```\n\nend';
    assert.equal(textOf(quote), 'a b\nc\n\nd\n\nend');
    assert.deepEqual(marks(quote), ['blockquote:a b\nc\n\nd', 'bold:b', 'pre:d']);
  });

  it('lays tables out in columns; one that does not fit its head stays as it is', () => {
    const table = '| name | 数 |\n|:--|--:|\n| `a` | **1** |\n| long one | 22 |';
    assert.equal(textOf(table), 'name     │ 数\n─────────┼───\na        │  1\nlong one │ 22');
    assert.deepEqual(marks(table), [`pre:${textOf(table)}`]);
    const wild = '| a | b |\n|--|--|\n| 1 | 2 | lost |';
    assert.equal(textOf(wild), wild);
    const wide = textOf(`| a | b |\n|--|--|\n| ${'x'.repeat(3000)} | y |\n${'| 1 | 2 |\n'.repeat(100)}`);
    assert.ok(wide.length < 10_000, 'one long cell does not blow up the others');
  });

  it('leaves HTML, references, unbalanced marks and lone fences as they are', () => {
    for (const text of [
      '<b>bold</b> &lt;i&gt; <!-- no -->',
      '<script>alert(1)</script>',
      '[a][b] and [c]',
      '**open *and `never closed',
      'snake_case_name 2 * 3 * 4 a*b',
      '[a](http://x.org',
      '```',
      '``` no language at all',
      `a${'*'.repeat(5000)}`,
      `${'*'.repeat(5000)}a`,
      '`'.repeat(5000),
      `${'`'.repeat(5000)}a`,
      '\u202egnp.exe \u200bzero\u200dwidth \u2066iso\u2069',
    ])
      assert.deepEqual([textOf(text), marks(text)], [text, []]);
    assert.equal(textOf('[r]: http://x.org "T"'), '[r]: http://x.org "T"');
    assert.equal(textOf('a \\*b\\* 1\\. c'), 'a *b* 1\\. c'.replace('1\\.', '1.'));
    assert.equal(textOf('lone \ud800 half'), 'lone \ufffd half');
  });

  it('survives endless nesting and endless paragraphs', () => {
    for (const text of [
      '> '.repeat(20_000),
      '- '.repeat(20_000),
      '1. '.repeat(20_000),
      '['.repeat(50_000),
      'a.'.repeat(50_000),
      '*a **b '.repeat(10_000),
    ]) {
      const { text: shown, entities } = markdownEntities(`${text}x`);
      assert.equal(letters(shown), letters(`${text}x`));
      assert.ok(entities.every(({ offset, length }) => offset + length <= shown.length));
    }
  });

  it('loses no character and produces no entity that Telegram refuses, however they are nested', () => {
    const word = fc.constantFrom(
      ...[
        'a',
        'bc',
        'é',
        '🎉',
        '👩‍👩‍👧',
        'م',
        '中',
        '\u200b',
        '1',
        '12.',
        '-',
        '+',
        '*',
        '**',
        '***',
        '_',
        '__',
      ],
      ...['~', '~~', '`', '``', '```', '~~~', '>', '#', '##', '|', '|--|', '---', '===', '[', ']', '(', ')'],
      ...[
        '](x)',
        '![',
        '<',
        '</b>',
        '<br>',
        '<!--',
        '\\',
        '\n',
        '\n\n',
        '\n    ',
        '\n- ',
        '\n> ',
        '  ',
        ' ',
        '\t',
        '[ ] ',
        '&amp;',
      ],
    );
    const document = fc.array(word, { maxLength: 60 }).map((words) => words.join(''));
    fc.assert(
      fc.property(document, (markdown) => {
        const { text, entities } = markdownEntities(markdown);
        assert.equal(entityProblem(text, entities), null);
        const languages = entities.map((entity) => ('language' in entity ? entity.language : '')).join('');
        // Digits are ignored, because lists are renumbered; languages are added, because they move from the text to the entities.
        const kept = (value: string) => letters(value).replaceAll(/\p{N}/gu, '');
        const sorted = (value: string) => [...kept(value)].sort().join('');
        assert.equal(sorted(text + languages), sorted(markdown));
        if (languages === '') assert.equal(kept(text), kept(markdown));
      }),
      { numRuns: 3_000 },
    );
  });
});
