// Proves, on both databases, that a limit on cost always has effect: an agent whose model has no price does not start, is not created, and
// does not continue under such a limit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { type Database, onBothDatabases, stagesOn } from './both-databases.ts';
import { cast, errorOf, spawn } from './toolsets/fanout-stage.ts';

const LIMIT = { cost_usd: 1 };
const free = {
  id: 'play/unknown',
  context_window: null,
  tells_cost: false,
  stream: () => assert.fail('asked'),
};

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  it('at the start', async () => {
    const on = await stage(() => 'never');
    await assert.rejects(
      on.start('hello', LIMIT),
      (error) =>
        error instanceof CoppiceError && error.code === 'E_NO_PRICE' && /play\/actor/.test(error.message),
    );
  });

  it('a child with another model: the call is refused with all its tasks', async () => {
    const on = await stage(cast([() => [spawn({ task: 'a' }, { task: 'b', model: 'play/unknown' })]]), {
      cost_usd: 0.1,
      models: { 'play/unknown': free },
    });
    const root = await on.start('hello', LIMIT);
    assert.equal((await on.runtime.settled(root.id)).reply, 'done');
    const [result] = await on.results(root);
    assert.equal(errorOf(result).code, 'NOT_AVAILABLE');
    assert.match(errorOf(result).message, /field "tasks\.1\.model": .*what play\/unknown costs is not known/);
    assert.equal((await on.store.agents({ root_id: root.id })).length, 1);
  });

  it('a tree that is resumed where the price is no longer known', async () => {
    const on = await stage(() => 'well', { cost_usd: 0.1 });
    const root = await on.start('hello', LIMIT);
    await on.runtime.settled(root.id);
    const again = await on.reopen(undefined, { models: { 'play/actor': free } });
    await again.runtime.resume(root.id);
    await again.runtime.send(root.id, 'more');
    const outcome = await again.runtime.settled(root.id);
    assert.equal(outcome.failure?.kind, 'limit');
    assert.match(outcome.failure?.error ?? '', /providers\.play\.models\."actor"\.price/);
  });

  it('a raised limit lets an agent continue that it had stopped, and none that failed otherwise', async () => {
    const on = await stage(({ user }) => (user === 'no' ? { text: '', finish: 'refused' } : user), {
      cost_usd: 2,
    });
    const [stopped, refused] = [await on.start('yes', LIMIT), await on.start('no', LIMIT)];
    await Promise.all([on.runtime.settled(stopped.id), on.runtime.settled(refused.id)]);
    await on.runtime.send(stopped.id, 'more');
    assert.equal((await on.runtime.settled(stopped.id)).failure?.kind, 'limit');
    const again = await on.reopen();
    for (const { id } of [stopped, refused]) await again.runtime.resume(id, { limits: { cost_usd: 10 } });
    assert.equal((await again.runtime.settled(stopped.id)).reply, 'more');
    assert.equal((await again.runtime.settled(refused.id)).failure?.kind, 'refused');
    assert.equal(again.requests.length, 1);
  });
}

onBothDatabases('limits on cost', suite);
