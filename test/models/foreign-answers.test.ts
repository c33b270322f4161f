// Proves that answers which no provider gives do no harm: endless ones, other protocols, redirects, impossible counts, and connections that stay open.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { ModelOutcome } from '../../src/models/model.ts';
import { ask, connect } from './protocols.ts';

let serve: (response: ServerResponse) => void = () => undefined;
const server = createServer((request, response) => {
  request.resume();
  response.on('error', () => undefined);
  request.on('end', () => serve(response));
});
let url = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const STREAM = { 'content-type': 'text/event-stream' };
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
const DONE = 'data: [DONE]\n\n';

type Type = Parameters<typeof connect>[0];

async function outcomeOf(way: (response: ServerResponse) => void, type: Type = 'openai-compatible') {
  serve = way;
  const model = await connect(type, url.replace('//', '//someone:secret@'), 'm', { idle_ms: 60_000 });
  return model.stream(ask(), () => undefined);
}

function failed(outcome: ModelOutcome) {
  assert.equal(outcome.type, 'failure', JSON.stringify(outcome).slice(0, 300));
  return outcome.type === 'failure' ? outcome.failure : assert.fail();
}

function textOf(outcome: ModelOutcome): string {
  if (outcome.type !== 'answer') assert.fail(JSON.stringify(outcome).slice(0, 300));
  return outcome.content.parts.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('');
}

/** Writes the same bytes until the client is gone, or `most` bytes were written. */
function pour(response: ServerResponse, bytes: Buffer | string, most: number): void {
  let written = 0;
  const more = (): void => {
    while (!response.destroyed && written < most) {
      written += bytes.length;
      if (!response.write(bytes)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

describe('an answer that no provider gives', () => {
  it('does not end after [DONE]: it is complete, and the connection is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const outcome = await outcomeOf((response) => {
      response.on('close', closed.resolve);
      response.writeHead(200, STREAM);
      response.write(chunk({ content: 'whole' }) + chunk({}, 'stop') + DONE);
    });
    assert.equal(outcome.type, 'answer');
    await closed.promise;
  });

  it('does not end after the last event of Anthropic or OpenAI: it is complete, too', async () => {
    const events: Readonly<Record<string, readonly object[]>> = {
      anthropic: [
        {
          type: 'message_start',
          message: {
            id: 'x',
            model: 'm',
            role: 'assistant',
            content: [],
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'whole' } },
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: 2 },
        },
        { type: 'message_stop' },
      ],
      openai: [
        { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
        { type: 'response.output_text.delta', item_id: 'i', delta: 'whole' },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'message', id: 'i', content: [] },
        },
        { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } },
      ],
    };
    for (const [type, said] of Object.entries(events)) {
      const outcome = await outcomeOf((response) => {
        response.writeHead(200, STREAM);
        for (const event of said) response.write(`data: ${JSON.stringify(event)}\n\n`);
      }, type as Type);
      assert.equal(outcome.type, 'answer', `${type}: ${JSON.stringify(outcome)}`);
    }
  });

  it('has no end: it fails at a bound, and is not asked for again', async () => {
    let asked = 0;
    const endless = failed(
      await outcomeOf((response) => {
        asked += 1;
        response.writeHead(200, STREAM);
        pour(response, chunk({ content: 'x'.repeat(100_000) }), 1e9);
      }),
    );
    assert.deepEqual([endless.kind, endless.retryable, asked], ['network', false, 1]);
    assert.match(endless.error, /the answer exceeds 8000000 characters/);
  });

  it('has arguments without end, with or without a name: it fails at the same bound', async () => {
    for (const name of [{ name: 'think' }, {}]) {
      const call = (args: string, more: object = {}) =>
        chunk({ tool_calls: [{ index: 0, ...more, function: { ...more, arguments: args } }] });
      const { error } = failed(
        await outcomeOf((response) => {
          response.writeHead(200, STREAM);
          response.write(call('{"a":"', { id: 'c', ...name }));
          pour(response, call('y'.repeat(100_000)), 1e9);
        }),
      );
      assert.match(error, /the answer exceeds 8000000 characters/);
    }
  });

  it('is one line without end: it fails at a bound, in time that grows with its length only', async () => {
    const { error, retryable } = failed(
      await outcomeOf((response) => {
        response.writeHead(200, STREAM);
        pour(response, Buffer.alloc(65_536, 'a'), 1e9);
      }),
    );
    assert.match(error, /an event of the answer exceeds 16000000 characters/);
    assert.equal(retryable, false);
  });

  it('comes from Google: the same bounds hold', async () => {
    const page = failed(
      await outcomeOf(
        (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>'),
        'google',
      ),
    );
    assert.match(page.error, /answered with text\/html instead of a stream of events/);
    const line = failed(
      await outcomeOf((response) => {
        response.writeHead(200, STREAM);
        pour(response, Buffer.alloc(65_536, 'a'), 1e9);
      }, 'google'),
    );
    assert.match(line.error, /an event of the answer exceeds 16000000 characters/);
    const endless = failed(
      await outcomeOf((response) => {
        response.writeHead(200, STREAM);
        const content = { parts: [{ text: 'x'.repeat(100_000) }] };
        pour(response, `data: ${JSON.stringify({ candidates: [{ content }] })}\n\n`, 1e9);
      }, 'google'),
    );
    assert.match(endless.error, /the answer exceeds 8000000 characters/);
    assert.deepEqual(
      [page, line, endless].map(({ retryable }) => retryable),
      [false, false, false],
    );
  });

  it('is an error whose body has no end: its beginning is read', async () => {
    const { kind, error } = failed(
      await outcomeOf((response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        pour(response, Buffer.alloc(65_536, 'a'), 1e9);
      }),
    );
    assert.equal(kind, 'bad_request');
    assert.match(error, /^400: a{400,500}…$/);
  });

  it('is a status that is about the address or the way to it: no message is named as rejected, and nothing is tried again', async () => {
    for (const status of [300, 304, 405, 407, 415, 426, 431, 451]) {
      let asked = 0;
      const { kind, error, retryable } = failed(
        await outcomeOf((response) => {
          asked += 1;
          response.writeHead(status, { 'content-type': 'text/html' }).end('<html>no</html>');
        }),
      );
      assert.deepEqual([kind, retryable, asked], ['network', false, 1], String(status));
      assert.match(
        error,
        new RegExp(`^${status}: .*: is http://127\\.0\\.0\\.1:\\d+/\\S+ the address of this API`),
      );
    }
  });

  it('is a web page, or JSON that says nothing: says what was found at which address, once', async () => {
    const bodies = [
      ['text/html; charset=utf-8', '<html>sign in to the network</html>'],
      ['application/json', JSON.stringify({ choices: [], status: 7 })],
    ] as const;
    for (const [type, body] of bodies) {
      const { error, retryable } = failed(
        await outcomeOf((response) => response.writeHead(200, { 'content-type': type }).end(body)),
      );
      assert.match(
        error,
        new RegExp(`^${url}/chat/completions answered with ${type.split(';')[0]} instead of`),
      );
      assert.equal(retryable, false);
    }
  });

  const packed = (encoding: string, body: Buffer | string, status = 200) =>
    outcomeOf((response) =>
      response.writeHead(status, { ...STREAM, 'content-encoding': encoding }).end(body),
    );

  it('is packed although nobody asked for that: it is read all the same', async () => {
    const text = chunk({ content: 'whole' }) + chunk({}, 'stop') + DONE;
    const ways = {
      gzip: gzipSync,
      'X-Gzip': gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      zstd: zstdCompressSync,
    };
    for (const [encoding, pack] of Object.entries(ways))
      assert.equal(textOf(await packed(encoding, pack(text))), 'whole');
    const refused = failed(await packed('gzip', gzipSync('{"error":{"message":"no such model"}}'), 404));
    assert.match(refused.error, /no such model/);
  });

  it('is packed, and ends in the middle: it broke off', async () => {
    const body = gzipSync(chunk({ content: 'whole' }) + chunk({}, 'stop'));
    const { retryable } = failed(await packed('gzip', body.subarray(0, -12)));
    assert.equal(retryable, true);
  });

  it('is packed in a way that nobody knows: it is not read as text', async () => {
    const { error, retryable } = failed(await packed('rot13', DONE));
    assert.match(error, /answered in the encoding rot13, which cannot be read/);
    assert.equal(retryable, false);
  });

  it('is lines of JSON instead of events, or one line that is the whole answer', async () => {
    const lines = (chunk({ content: 'who' }) + chunk({ content: 'le' }) + chunk({}, 'stop')).replaceAll(
      /^data: |\n(?=\n)/gm,
      '',
    );
    const message = { role: 'assistant', content: 'whole' };
    const content = [{ type: 'text', text: 'whole' }];
    const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'whole' }] };
    const answers: readonly (readonly [Type, string])[] = [
      ['openai-compatible', lines],
      ['openai-compatible', JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] })],
      ['anthropic', JSON.stringify({ type: 'message', role: 'assistant', content, stop_reason: 'end_turn' })],
      ['openai', JSON.stringify({ object: 'response', status: 'completed', output: [item] })],
    ];
    for (const [type, body] of answers)
      assert.equal(
        textOf(await outcomeOf((response) => response.writeHead(200).end(body), type)),
        'whole',
        body,
      );
    const { error } = failed(
      await outcomeOf((response) =>
        response.writeHead(200).end('{"error":{"message":"not today","code":400}}'),
      ),
    );
    assert.match(error, /not today/);
  });

  it('has other answers beside the first: one is read', async () => {
    const other = (text: string) => text.replaceAll('"index":0', '"index":1');
    const pieces = [chunk({ content: 'who' }), chunk({ content: 'le' }), chunk({}, 'stop')];
    const body = pieces.map((piece) => piece + other(piece)).join('') + DONE;
    for (const sent of [body, other(pieces.join('')) + DONE])
      assert.equal(textOf(await outcomeOf((response) => response.writeHead(200, STREAM).end(sent))), 'whole');
  });

  it('is a web page or a redirect without end: nothing of it is waited for', async () => {
    for (const head of [
      { 'content-type': 'text/html' },
      { 'content-type': 'text/html', location: '/login' },
    ]) {
      const { error } = failed(
        await outcomeOf(
          (response) => void response.writeHead('location' in head ? 302 : 200, head).write('<html>'),
        ),
      );
      assert.match(error, /instead of a stream of events|redirects to \/login/);
    }
  });

  it('is an error as JSON with status 200: it is told as the provider says it', async () => {
    const failure = failed(
      await outcomeOf((response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: { message: 'that model is busy', type: 'overloaded_error' } })),
      ),
    );
    assert.deepEqual([failure.kind, failure.retryable], ['overloaded', true]);
    assert.match(failure.error, /that model is busy/);
  });

  it('is a stream under the type of what its events hold: it is read', async () => {
    const text = chunk({ content: 'whole' }) + chunk({}, 'stop') + DONE;
    const outcome = await outcomeOf((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    );
    assert.equal(textOf(outcome), 'whole');
  });

  it('is a redirect: it is not followed, and says where it leads', async () => {
    const { error, retryable } = failed(
      await outcomeOf((response) => response.writeHead(308, { location: 'https://new.example/v1' }).end()),
    );
    assert.match(
      error,
      /^308: .* redirects to https:\/\/new\.example\/v1, which is not followed: set baseURL/,
    );
    assert.equal(retryable, false);
  });

  it('counts tokens below nothing or beyond measure: they count as nothing, or as the maximum', async () => {
    const usage = {
      prompt_tokens: -5,
      completion_tokens: 1e300,
      prompt_tokens_details: { cached_tokens: 0.4 },
    };
    const outcome = await outcomeOf((response) => {
      response.writeHead(200, STREAM);
      response.end(chunk({ content: 'a' }) + chunk({}, 'stop', { usage }) + DONE);
    });
    assert.equal(outcome.type, 'answer');
    if (outcome.type !== 'answer') return;
    const { input, output, cached } = outcome.usage;
    assert.deepEqual({ input, output, cached }, { input: 0, output: 1e10, cached: 0 });
  });
});
