// Proves which pictures of a conversation are sent: none that a provider refuses, at most as many as it accepts, the newest first, and the same ones from
// request to request.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withinPictures } from '../../src/models/provider/picture-budget.ts';
import { ProviderPrompt } from '../../src/models/provider/provider-prompt.ts';
import type { Image } from '../../src/records/conversation/message.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';

const look = (image: Image): PromptMessage => ({
  role: 'results',
  results: [{ call_id: 'c', name: 'read_image', status: 'ok', output: 'a.png', images: [image] }],
});
const left = (messages: readonly PromptMessage[]): boolean[] =>
  messages.map((message) => message.role === 'results' && message.results[0]?.images?.length === 1);

it('pictures of old ledgers that some provider refuses are told of in words', () => {
  const header = (width: number) => {
    const bytes = Buffer.alloc(33);
    bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(10, 20);
    return bytes.toString('base64');
  };
  for (const [image, said] of [
    [{ media_type: 'image/png', base64: header(9_000) }, /left out: it has 9000×10 pixels/],
    [{ media_type: 'image/gif', base64: 'R0lGODlhAQABAAAAACw=' }, /left out: it is not a readable PNG/],
    [{ media_type: 'image/png', base64: header(10).repeat(120_000) }, /left out: it has \d+ bytes as base64/],
    [{ media_type: 'image/jpeg', base64: '/9j/' }, /left out/],
    [{ media_type: 'image/png', base64: header(2_000) }, /"type":"file"/],
  ] as const)
    assert.match(JSON.stringify(new ProviderPrompt('p/m').build('', [look(image)])).slice(0, 2_000), said);
});

it('too many, or too large together: the oldest half goes at once, and stays gone', () => {
  const small = Array.from({ length: 100 }, () => look({ media_type: 'image/png', base64: 'x' }));
  const gone = (count: number) => left(withinPictures(small.slice(0, count))).filter((one) => !one).length;
  assert.deepEqual([80, 81, 90, 100].map(gone), [0, 41, 41, 41]);
  const large = Array.from({ length: 6 }, () =>
    look({ media_type: 'image/png', base64: 'x'.repeat(4 * 1024 * 1024) }),
  );
  assert.deepEqual(left(withinPictures(large.slice(0, 3))), [true, true, true]);
  assert.deepEqual(left(withinPictures(large.slice(0, 4))), [false, false, false, true]);
});
