/**
 * Proves that a field which an answer does not need never costs the answer: good streams of the four protocols with one place dropped, null, of another type,
 * repeated or beside an unknown event, and cut at every byte, say the same text, calls and end. Where something needed is missing or unreadable, the answer is
 * what is left of it, or an error that names it and is not asked for again.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { GOOD, GOOD_READ } from './good-answers.ts';
import { type Event, type Protocol, RawServer, type Read, streamOf } from './raw-answers.ts';

const server = new RawServer();
before(() => server.start());
after(() => server.stop());

type Path = readonly (string | number)[];

/** All places of an event: of its fields, and of the items of its lists. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [here, ...placesIn(one, here)];
  });
}

function changed(
  event: Readonly<Record<string, unknown>>,
  path: Path,
  change: (holder: Record<string, unknown>, key: string) => void,
): Event {
  const copy = structuredClone(event) as Record<string, unknown>;
  let holder = copy;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  change(holder, String(path.at(-1)));
  const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
  return `${name}data: ${JSON.stringify(copy)}\n\n`;
}

function ofAnotherType(value: unknown): unknown {
  if (typeof value === 'string') return Number.isFinite(Number(value)) && value !== '' ? Number(value) : 7;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? {} : 'text';
}

const CHANGES: Readonly<Record<string, (holder: Record<string, unknown>, key: string) => void>> = {
  dropped: (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  null: (holder, key) => {
    holder[key] = null;
  },
  'of another type': (holder, key) => {
    holder[key] = ofAnotherType(holder[key]);
  },
};

/** Places that carry what the answer says, or hold such a place. */
const NEEDED: Readonly<Record<Protocol, RegExp>> = {
  anthropic: /^(delta|delta\.(text|thinking|partial_json)|content_block(\.(type|name|text|thinking))?)$/,
  'openai-compatible':
    /^choices(\.0(\.delta(\.(content|reasoning_content|tool_calls(\.0(\.function(\.(name|arguments))?)?)?))?)?)?$/,
  openai: /^(delta|text|item(\.(type|arguments|name|content(\.0(\.text)?)?|summary(\.0(\.text)?)?))?)$/,
  google:
    /^candidates(\.0(\.finishReason|\.content(\.parts(\.0(\.(text|thought|functionCall(\.(name|args(\.n)?)?)?))?)?)?)?)?$/,
};

/** What must come out wherever a place that is not needed changes. */
function assertSame(read: Read, told: string): void {
  assert.deepEqual(read, GOOD_READ, `${told}: ${JSON.stringify(read)}`);
}

for (const [protocol, events] of Object.entries(GOOD) as [Protocol, readonly Event[]][])
  describe(`a good answer of ${protocol}`, () => {
    it('is read as it is, in pieces cut at every byte', async () => {
      const body = streamOf(events);
      for (let pieces = 1; pieces < 40; pieces += 1)
        assertSame(await server.read(protocol, body, { pieces }), `${pieces} pieces`);
      assertSame(await server.read(protocol, body, { pieces: Buffer.byteLength(body) }), 'single bytes');
    });

    for (const [name, change] of Object.entries(CHANGES))
      it(`says the same with any one field ${name}`, async () => {
        let [same, less] = [0, 0];
        for (const [at, event] of events.entries()) {
          if (typeof event === 'string') continue;
          for (const path of placesIn(event)) {
            // An error of any type is one.
            if (path.at(-1) === 'error' && name === 'of another type') continue;
            const told: string = `event ${at} (${event.type ?? ''}), ${path.join('.')} ${name}`;
            const body = streamOf(events.with(at, changed(event, path, change)));
            const read = await server.read(protocol, body);
            if (!NEEDED[protocol].test(path.join('.'))) {
              assertSame(read, told);
              same += 1;
            } else if (read.error !== undefined) {
              assert.match(read.error, /cannot be read|broke off/, `${told}: ${read.error}`);
              // Only an answer of which no end has come is asked for again.
              const asked = read.error.includes('broke off');
              assert.deepEqual([read.retryable, read.requests], [asked, asked ? 2 : 1], told);
              less += 1;
            } else {
              // No more calls than there were, and no other ones.
              assert.ok((read.calls?.length ?? 0) <= 2, told);
              assert.equal(read.requests, 1, told);
              less += 1;
            }
          }
        }
        assert.ok(same > 20 && less > 3, `${same} fields that are not needed, ${less} that are`);
      });

    it('says the same with unknown events, comments and blanks between its own', async () => {
      for (let at = 0; at <= events.length; at += 1)
        for (const odd of [
          { type: 'novelty', x: [1, { y: null }] },
          ': keep-alive\n\n',
          'data:\n\n',
          'data: \n\n',
          'event: ping\ndata: {"type":"ping"}\n\n',
          'data: null\n\n',
          'data: []\n\n',
          'retry: 3000\nid: 7\n\n',
        ] as const)
          assertSame(await server.read(protocol, streamOf(events.toSpliced(at, 0, odd))), `${odd} at ${at}`);
    });

    it('says the same if an event is repeated that has nothing to say', async () => {
      const REPEATED =
        /message_start|content_block_stop|message_delta|message_stop|ping|added|done|created|completed/;
      for (const [at, event] of events.entries())
        if (typeof event !== 'string' && REPEATED.test(String(event.type)))
          assertSame(await server.read(protocol, streamOf(events.toSpliced(at, 0, event))), `event ${at}`);
    });

    it('says the same with a byte order mark, ends of lines as on Windows, no blank line at the end, no names', async () => {
      const body = streamOf(events);
      for (const other of [
        `\ufeff${body}`,
        body.replaceAll('\n', '\r\n'),
        body.trimEnd(),
        `${body.trimEnd()}\n`,
        body.replaceAll(/^event: .*\n/gm, ''),
        body.replaceAll('data: ', 'data:'),
        `${body}data: [DONE] \n\n`,
        `${body}data: {"broken`,
      ])
        assertSame(await server.read(protocol, other, { pieces: 3 }), JSON.stringify(other.slice(0, 60)));
    });

    it('broken off at any event is never taken for a whole one, and is asked for again', async () => {
      const end = events.findIndex((event) =>
        /message_delta|"tool_calls"|completed|STOP/.test(
          JSON.stringify(event).replaceAll('"tool_calls":[', ''),
        ),
      );
      for (let at = 0; at < end; at += 1) {
        const read = await server.read(protocol, streamOf(events.slice(0, at)));
        assert.deepEqual([read.retryable, read.requests], [true, 2], `${at}: ${JSON.stringify(read)}`);
      }
    });
  });
