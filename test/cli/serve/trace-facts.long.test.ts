// Proves from outside that a server's traces tell what viewers show of a model request: what the provider called its answer, which model gave it, why it ended, what it read from and wrote to its cache, the time to the first piece; and what was said only if somebody wants it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, it } from 'node:test';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { startCollector } from '../../serve/traces/collector.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

afterEach(closeOpened);

const usage = {
  input_tokens: 5,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 11,
  output_tokens: 1,
};
const ANSWERS = {
  anthropic: [
    {
      type: 'message_start',
      message: { id: 'msg_7', type: 'message', role: 'assistant', model: 'm-2026', usage },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'the answer' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ],
  'openai-compatible': [
    { id: 'chat_7', model: 'm-2026', choices: [{ delta: { role: 'assistant', content: 'the answer' } }] },
    { id: 'chat_7', model: 'm-2026', choices: [{ delta: {}, finish_reason: 'stop' }] },
  ],
};

for (const [type, events] of Object.entries(ANSWERS))
  for (const contents of [false, true])
    it(`${type}, contents: ${contents}`, async () => {
      const provider = createServer((request, response) => {
        request.resume().on('end', () => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
          response.end(type === 'anthropic' ? '' : 'data: [DONE]\n\n');
        });
      });
      await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
      closeLater(async () => void provider.close());
      const baseURL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
      const collector = await startCollector();
      const home = makeHome();
      home.configure({
        model: 'local/m',
        providers: { local: { type, baseURL } },
        ...(contents ? { server: { traces: { contents } } } : {}),
      });
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const server = home.start(['serve', '--no-listen'], { env });
      closeLater(async () => void server.child.kill('SIGKILL'));
      const { code, stderr } = await home.run(['run', 'the question', '--detach']);
      assert.equal(code, 0, stderr);
      const chat = () => collector.spans.find(({ name }) => name === 'chat m');
      await until(() => chat() !== undefined, 'the span arrives');
      server.child.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);
      const { values } = chat() ?? assert.fail();
      const anthropic = type === 'anthropic';
      assert.equal(values['gen_ai.response.id'], anthropic ? 'msg_7' : 'chat_7');
      assert.equal(values['gen_ai.response.model'], 'm-2026');
      assert.equal(values['gen_ai.request.model'], 'm');
      assert.deepEqual(values['gen_ai.response.finish_reasons'], ['stop']);
      assert.equal(typeof values['gen_ai.response.time_to_first_chunk'], 'number');
      assert.equal(values['gen_ai.usage.cache_read.input_tokens'], anthropic ? 7 : 0);
      assert.equal(values['gen_ai.usage.cache_creation.input_tokens'], anthropic ? 11 : undefined);
      if (!contents) return assert.doesNotMatch(JSON.stringify(collector.spans), /the question|the answer/);
      const [asked] = JSON.parse(values['gen_ai.input.messages']);
      assert.deepEqual([asked.role, asked.parts[0].type], ['user', 'text']);
      assert.match(asked.parts[0].content, /the question/);
      const [said] = JSON.parse(values['gen_ai.output.messages']);
      assert.deepEqual(said.parts, [{ type: 'text', content: 'the answer' }]);
    });
