// Proves on both databases that agents which a limit cut short go on once that limit is raised: all of the tree, whoever leads them, and by no other limit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isLimit, namedLimit } from '../../src/records/agent/limits.ts';
import { until } from '../until.ts';
import { type Database, onBothDatabases, stagesOn } from './both-databases.ts';
import type { Scene } from './stage.ts';

/** Children make calls until they are told to finish, or to go on. */
function play({ name, user, step }: Scene) {
  if (/person has let you go on/.test(user)) return `${name} is done`;
  if (user.startsWith('Finish now')) return `${name} so far`;
  if (name !== 'main') return [['wait', { timeout: 0 }]] as const;
  return step === 0 ? (['a', 'b'].map((one) => ['fork', { name: one, prompt: 'work' }]) as never) : 'noted';
}

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['process'] });

  async function cutShort() {
    const on = await stage(play as never);
    const { id } = await on.start('go', { turns: 3 });
    await on.runtime.settled(id);
    const replies = async () => Promise.all(['a', 'b'].map(async (name) => (await on.agent(name)).reply));
    assert.deepEqual(await replies(), ['a so far', 'b so far']);
    return { on, id };
  }

  it('children too, in another process; not by another limit, and not by as much as before', async () => {
    const { on, id } = await cutShort();
    const again = await on.reopen(play as never);
    for (const limits of [{ tokens: 1_000_000 }, { turns: 3 }]) {
      const { restarted } = await again.runtime.resume(id, { limits });
      assert.equal(restarted, 0);
      await until(() => again.runtime.release(id), 'it is released');
    }
    const { restarted } = await again.runtime.resume(id, { limits: { turns: 6 } });
    assert.equal(restarted, 2);
    await again.runtime.settled(id);
    assert.deepEqual(
      [(await again.agent('a')).reply, (await again.agent('b')).reply],
      ['a is done', 'b is done'],
    );
  });

  it('also those that are led already, and with a retry after the limit was raised otherwise', async () => {
    for (const how of [{ limits: { turns: 6 } }, { retry: true }]) {
      const { on, id } = await cutShort();
      const tree = await on.store.tree(id);
      if (how.retry) await on.store.setLimits(id, { ...tree!.limits, turns: 6 });
      await on.runtime.resume(id, how);
      await until(async () => (await on.agent('b')).reply === 'b is done', 'it goes on');
      await until(async () => (await on.agent('a')).reply === 'a is done', 'the other one, too');
    }
  });
}

onBothDatabases('a raised limit', suite);

it('reads from what is said of a limit which it is, and names twice as much, which is a valid limit', () => {
  const cases = [
    [
      'limit "tokens" of the tree reached: 9,123 of 9,000 tokens used. A person',
      'tokens',
      9_000,
      'tokens=18000',
    ],
    ['limit "cost" of the tree reached: $6.0003 of $5 used. A person', 'cost_usd', 5, 'cost=12'],
    ['limit reached: 1 model request in one turn', 'turns', 1, 'turns=2'],
    ['limit reached: run time of 0.5 s', 'run_ms', 500, 'run=1s'],
    [
      'fork failed 3 times in the same way: limit "children" reached: 16 of 16.',
      'children',
      16,
      'children=32',
    ],
    ['limit "live" reached: 0 of 64 and 70 more were asked for; none was created.', 'live', 64, 'live=140'],
    ['limit "depth" reached: 3 of 3. Agents', 'depth', 3, 'depth=6'],
    ['limit "total" reached: 0 of 0 and 1 more', 'total', 0, 'total=2'],
  ] as const;
  for (const [text, limit, was, raised] of cases) {
    assert.deepEqual(namedLimit(text), { limit, was, raised });
    assert.ok(isLimit(limit, Number(/[\d.]+/.exec(raised)?.[0])), raised);
  }
  assert.equal(
    namedLimit('budget "tokens" for you and the agents below you reached: 9 of 9 tokens used'),
    null,
  );
});
