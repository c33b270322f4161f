// Proves when an answer ends whose server keeps the connection open, and does not say that it is complete.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, connect } from './protocols.ts';

type Say = (delta: object, finish_reason: string | null, more?: object) => void;

/** The outcome of a request to a server that never ends its answer. */
async function outcomeOf(test: TestContext, answer: (say: Say) => Promise<void>) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void answer((delta, finish_reason, more = {}) =>
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`,
      ),
    );
  });
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = await connect('openai-compatible', url, 'm', { idle_ms: 120_000, attempts: 1 });
  const outcome = await model.stream(ask(), () => undefined);
  return outcome.type === 'answer' ? outcome : assert.fail(JSON.stringify(outcome));
}

it('a finished answer whose server falls silent is an answer, with the usage that came late', async (test) => {
  const { usage } = await outcomeOf(test, async (say) => {
    say({ content: 'whole' }, null);
    say({}, 'stop');
    await sleep(1_000);
    say({}, null, { usage: { prompt_tokens: 3, completion_tokens: 4 } });
  });
  assert.equal(usage.output, 4);
});

it('one whose pieces have an empty reason waits for the next, and one with text after its reason goes on as long as something comes', async (test) => {
  for (const [reason, pause_ms] of [
    ['', 6_000],
    ['stop', 3_000],
  ] as const) {
    const { content } = await outcomeOf(test, async (say) => {
      say({ content: 'one ' }, reason);
      await sleep(pause_ms);
      say({ content: 'two ' }, reason);
      await sleep(3_000);
      say({ content: 'three' }, 'stop');
    });
    assert.deepEqual(content.parts, [{ type: 'text', text: 'one two three' }], reason);
  }
});
