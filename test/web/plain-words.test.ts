// Proves that a line of a list shows the words of a model without the marks of Markdown, and leaves other signs as they are.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { plainWords } from '../../web/data/texts.ts';

it('marks around words are left out, other signs stay', () => {
  for (const [text, plain] of [
    ['## Done\nIt is **crimson**, see `a.txt`.', 'Done It is crimson, see a.txt.'],
    ['…see [the page](https://example.org/x)', '…see the page'],
    [
      '2 ** 3 ** 4, a_b__c, #1 and \u202bשלום **עולם**\u202c',
      '2 ** 3 ** 4, a_b__c, #1 and \u202bשלום עולם\u202c',
    ],
    ['**half of', '**half of'],
    [
      '{"status":"idle","name":"p4","ways":[1,2],"last_reply":"## Done\\nIt is \\"so\\"."}',
      'status: idle, name: p4, ways: 1,2, last_reply: Done It is "so".',
    ],
    [
      '{"cells":[{"name":"local/fast 1","ok":true},{"name":"b"}],"why":null}',
      'cells: name: local/fast 1, ok: true, name: b, why: null',
    ],
    ['…lo","answer":"## What I fo…', '…lo, answer: What I fo…'],
    ['const x = { a: "b" };', 'const x = { a: "b" };'],
    ['', ''],
  ] as const)
    assert.equal(plainWords(text), plain);
});
