// Proves how the price table matches model names, and what an answer costs: fresh input, cache reads and writes, output, and long requests.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { costOf, listPrice } from '../../src/models/provider/prices.ts';
import { providerConfig } from '../../src/models/provider/provider-config.ts';
import { openModel } from '../../src/models/providers.ts';

const usage = (input: number, output: number, cached = 0, written = 0) => ({
  input,
  output,
  cached,
  written,
});

it('a dated version costs what its model costs; a name that only begins like a known one is unknown', () => {
  const sonnet = { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 };
  for (const name of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5-latest'])
    assert.deepEqual(listPrice('anthropic', name), sonnet, name);
  assert.deepEqual(listPrice('openai', 'gpt-5-2025-08-07'), { input: 1.25, output: 10, cached: 0.125 });
  assert.equal(listPrice('google', 'gemini-2.0-flash-001')?.input, 0.1);
  for (const name of ['claude-sonnet-4-5-turbo', 'claude-sonnet-9', 'constructor', '', 'gpt-5'])
    assert.equal(listPrice('anthropic', name), null, name);
  assert.equal(listPrice('openai-compatible', 'gpt-5'), null);
});

it('each kind of token has its price', () => {
  const price = { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 };
  assert.equal(costOf(usage(1_000_000, 0), price), 3);
  assert.equal(costOf(usage(1_000_000, 1_000_000, 600_000, 200_000), price), 0.6 + 0.18 + 0.75 + 15);
  assert.equal(costOf(usage(1_000_000, 0, 1_000_000), { input: 2, output: 0 }), 2);
  const long = { input: 1, output: 1, long: { over: 200_000, input: 2, output: 3 } };
  assert.equal(costOf(usage(200_000, 100_000), long), 0.3);
  assert.equal(costOf(usage(200_001, 100_000), long), 0.700002);
});

it('models on a machine of one’s own cost nothing, others of their protocol what the configuration says', async () => {
  const env = { OPENROUTER_API_KEY: 'k' };
  const tells = async (name: string) => (await openModel(name, { providers: {}, env })).tells_cost;
  assert.deepEqual(await Promise.all(['ollama/x', 'lmstudio/x', 'openrouter/x'].map(tells)), [
    true,
    true,
    false,
  ]);
  const ollama = (more: object) => ({
    ollama: providerConfig.parse({
      type: 'openai-compatible',
      models: { x: { contextWindow: 8_000 } },
      ...more,
    }),
  });
  const told = async (more: object) =>
    (await openModel('ollama/x', { providers: ollama(more), env })).tells_cost;
  assert.deepEqual([await told({}), await told({ baseURL: 'https://models.example/v1' })], [true, false]);
});
