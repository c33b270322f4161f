// Proves that the media type of an answer is read whatever its case and its parameters, so that a page is never read as a stream of events.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { foreignAnswer, typeOf } from '../../src/models/provider/http-fetch.ts';

const answered = (type?: string) =>
  ({ statusCode: 200, headers: { 'content-type': type } }) as unknown as IncomingMessage;

it('a page is not a stream, however its type is written', () => {
  for (const type of [
    'text/html',
    'Text/HTML',
    'TEXT/HTML; charset=UTF-8',
    ' text/html ;x',
    'Application/JSON',
  ])
    assert.match(
      foreignAnswer(answered(type), 'http://a.test/v1')?.message ?? '',
      /instead of a stream/,
      type,
    );
  for (const type of ['text/event-stream', 'Text/Event-Stream', undefined])
    assert.equal(foreignAnswer(answered(type), 'http://a.test/v1'), null, type);
  assert.equal(typeOf(answered('Text/Plain;Charset=A')), 'text/plain');
});
