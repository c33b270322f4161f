/**
 * Proves that events are read whichever of the line ends of the standard a server uses (CR, LF, CR LF), wherever its chunks are split, and that an event is
 * delivered with the byte that ends it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_MAX } from '../../src/models/provider/http-fetch.ts';
import { EventLines } from '../../src/models/wire/send-wire.ts';
import { GOOD } from './good-answers.ts';
import { type Protocol, RawServer, streamOf } from './raw-answers.ts';

const STREAM =
  ': hello\nevent: a\ndata: {"n":1}\n\ndata: one\ndata:two\n\nevent: b\nid: 7\ndata: {"n":2}\n\n\ndata: last\n\n';
const EVENTS = ['a {"n":1}', ' one\ntwo', 'b {"n":2}', ' last'];

function read(chunks: readonly string[], ends = true): string[] {
  const seen: string[] = [];
  const lines = new EventLines((data, name) => void seen.push(`${name} ${data}`));
  for (const chunk of chunks) lines.push(chunk);
  if (ends) lines.end();
  return seen;
}

/** The stream with these line ends, one after the other. */
function withEnds(...ends: readonly string[]): string {
  let at = 0;
  return STREAM.replaceAll('\n', () => ends[at++ % ends.length] as string);
}

const STREAMS = {
  LF: withEnds('\n'),
  'CR LF': withEnds('\r\n'),
  CR: withEnds('\r'),
  'all three': withEnds('\r\n', '\r', '\n', '\r\n', '\n'),
} as const;

for (const [title, stream] of Object.entries(STREAMS))
  describe(`events with ${title}`, () => {
    it('are read, split at every byte and at every pair of bytes, with a byte order mark or without', () => {
      for (const text of [stream, `\u{feff}${stream}`]) {
        assert.deepEqual(read([text]), EVENTS);
        assert.deepEqual(read([...text]), EVENTS);
        for (let at = 0; at <= text.length; at += 1)
          for (let to = at; to <= text.length; to += 1)
            assert.deepEqual(read([text.slice(0, at), '', text.slice(at, to), text.slice(to)]), EVENTS);
      }
    });

    it('are delivered without a further byte', () => {
      const end = stream.lastIndexOf('data: last') + 'data: last'.length;
      const rest = stream.slice(end);
      const whole = rest === '\r\n\r\n' ? '\r\n\r' : rest;
      assert.deepEqual(read([stream.slice(0, end), ...whole], false), EVENTS);
      assert.deepEqual(read([stream.slice(0, end) + whole], false), EVENTS);
    });
  });

it('the maximum is that of one event, however many come on one stream and however they are cut', () => {
  const part = `data: ${'x'.repeat(EVENT_MAX / 4)}\n`;
  let seen = 0;
  const lines = new EventLines(() => {
    seen += 1;
  });
  for (let event = 0; event < 6; event += 1)
    for (const chunk of [part, part, '\n', 'data: y\n\nda', 'ta: z\n\n']) lines.push(chunk);
  assert.equal(seen, 18);
  assert.throws(() => {
    for (let chunk = 0; chunk < 5; chunk += 1) lines.push(part);
  }, /exceeds/);
});

it('a mark of two line ends that begins with the end of another line ends one event, not two', () => {
  assert.deepEqual(read(['data: a\r', '\ndata: b\r', '\n\r', '\n'], false), [' a\nb']);
  assert.deepEqual(read(['data: a\r', '\r', 'data: b\r', '\r'], false), [' a', ' b']);
  assert.deepEqual(read(['data: a\n', '\r', '\n', 'data: b\n\n'], false), [' a', ' b']);
});

for (const protocol of ['anthropic', 'openai', 'openai-compatible', 'google'] as readonly Protocol[])
  it(`an answer of ${protocol} with CR alone is the same as with LF`, async (test) => {
    const server = new RawServer();
    await server.start();
    test.after(() => server.stop());
    const stream = streamOf(GOOD[protocol]);
    const wanted = await server.read(protocol, stream);
    assert.equal(wanted.error, undefined);
    assert.deepEqual(await server.read(protocol, stream.replaceAll('\n', '\r')), wanted);
    const bytes = Buffer.byteLength(stream.replaceAll('\n', '\r\n'));
    assert.deepEqual(await server.read(protocol, stream.replaceAll('\n', '\r\n'), { pieces: bytes }), wanted);
  });
