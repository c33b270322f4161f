// Proves that a model is opened once, that a failed opening is retried, that a model without a price is refused under a limit on cost, and that closing
// closes all models.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Model } from '../../../src/models/model.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Limits } from '../../../src/records/agent/limits.ts';
import { ModelCache } from '../../../src/runtime/performing/model-cache.ts';

function shelf(over: Partial<Model> = {}, open: (name: string) => void = () => undefined) {
  const opened: string[] = [];
  const models = new ModelCache(
    async (name) => {
      opened.push(name);
      open(name);
      return { id: name, context_window: null, tells_cost: false, ...over } as Model;
    },
    (root_id) => (root_id === 'limited' ? ({ cost_usd: 1 } as Limits) : undefined),
  );
  return { models, opened };
}

const of = (root_id: string) => ({ root_id, config: {} }) as Agent;

it('opens each model once, even for concurrent requests', async () => {
  const { models, opened } = shelf();
  const [one, same] = await Promise.all([models.model('a/b'), models.model('a/b')]);
  assert.equal(one, same);
  assert.equal(await models.modelFor(of('root'), 'a/b'), one);
  await models.model('a/c');
  assert.deepEqual(opened, ['a/b', 'a/c']);
});

it('tries again to open a model that could not be opened', async () => {
  let tries = 0;
  const { models, opened } = shelf({}, () => {
    tries += 1;
    if (tries === 1) throw new Error('no key');
  });
  await assert.rejects(models.model('a/b'), /no key/);
  assert.equal((await models.model('a/b')).id, 'a/b');
  assert.equal(opened.length, 2);
});

it('with a cost limit, the price of the model must be known', async () => {
  const { models } = shelf();
  const unknown = { code: 'E_NO_PRICE', message: /providers\.a\.models\."b\/c"\.price/ };
  await assert.rejects(models.modelFor(of('limited'), 'a/b/c'), unknown);
  await assert.rejects(models.model('a/b/c', { cost_usd: 0 }), unknown);
  await assert.rejects(models.model('acp:x/plan', { cost_usd: 1 }), /acp\.x\.price/);
  assert.equal((await models.model('a/b/c', { cost_usd: null })).id, 'a/b/c');
  assert.equal((await models.modelFor(of('other'), 'a/b/c')).id, 'a/b/c');
  assert.equal((await shelf({ tells_cost: true }).models.modelFor(of('limited'), 'a/b')).id, 'a/b');
});

it('closes all models, even if closing one fails', async () => {
  let closed = 0;
  const close = async () => {
    closed += 1;
    throw new Error('it does not want to');
  };
  const { models, opened } = shelf({ close }, (name) => {
    if (name === 'no/key') throw new Error('no key');
  });
  await Promise.all([models.model('a/b'), models.model('a/c')]);
  const failing = models.model('no/key').catch(() => 'failed');
  await models.close();
  assert.deepEqual([closed, await failing, opened.length], [2, 'failed', 3]);
  await models.close();
  assert.equal(closed, 2);
});
