// Proves that an answer with a finish reason ends although its server neither says so nor closes the connection.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { createProviderModel } from '../../src/models/provider/provider-model.ts';
import { askOf } from '../../src/models/provider-ask.ts';
import { ask } from './protocols.ts';

it('a finished answer whose server falls silent is an answer, with the usage that came late', async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const say = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      say({ choices: [{ index: 0, delta: { content: 'whole' }, finish_reason: null }] });
      say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      setTimeout(() => say({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }), 1_000);
    });
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const reach = { type: 'openai-compatible', provider: 'local', model: 'm', key: null, base_url } as const;
  const model = createProviderModel({
    id: 'local/m',
    ask: await askOf({ ...reach, headers: {}, idle_ms: 120_000 }),
    context_window: null,
    price: null,
    caches_prefixes: false,
    trusts_own_ids: true,
    thinks_throughout: false,
    unsummarised: new Set(),
    secrets: [],
    key_env: null,
  });
  const outcome = await model.stream(ask(), () => undefined);
  assert.equal(outcome.type, 'answer');
  if (outcome.type === 'answer') assert.equal(outcome.usage.output, 4);
});
