// Proves the bounds of the `slash` vocabulary on both databases: limits hold exactly, and agents see the tool and guidance of this vocabulary only.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { slashToolset } from '../../../src/kernel/toolsets/slash/slash.ts';
import { CoppiceError } from '../../../src/records/coppice-error.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { onBothDatabases, stagesOn } from '../both-databases.ts';
import type { Line, Play } from '../stage.ts';
import { errorOf, slash, UUID } from './slash-stage.ts';

/** A play in which the root says `first`, then rests; all others follow `child`. */
function play(first: Line, child: Play = () => 'resting'): Play {
  return (scene) => (scene.name !== 'main' ? child(scene) : scene.step === 0 ? first : 'resting');
}

onBothDatabases('bounds of slash', (database) => {
  const stage = stagesOn(database, { toolsets: ['slash'] });

  it('limits: exactly the allowed number is created; the rest are refused with the limit and how to raise it', async () => {
    const forks: Line = Array.from({ length: 8 }, (_, index) => slash(`fork child ${index}`));
    for (const [limits, created] of [
      [{ children: 4 }, 4],
      [{ live: 4 }, 3],
      [{ total: 6 }, 5],
      [{ depth: 0 }, 0],
      [{ depth: 1 }, 8],
      [{ depth: 2, total: 30 }, 29],
    ] as const) {
      const deeper = 'depth' in limits && limits.depth > 0;
      const child: Play = (scene) => (deeper && scene.step === 0 ? forks : 'resting');
      const on = await stage(play(forks, child));
      const { root, agents } = await on.perform('go', limits);
      assert.equal(agents.length - 1, created, JSON.stringify(limits));
      const [name] = Object.keys(limits);
      const results = (await Promise.all(agents.map((agent) => on.results(agent)))).flat();
      const refused = results.filter((result) => result.status === 'error');
      assert.equal(results.filter(({ output }) => UUID.test(output)).length, created);
      assert.ok(refused.length > 0);
      for (const result of refused) {
        assert.equal(errorOf(result).code, 'LIMIT_REACHED');
        assert.match(errorOf(result).message, /limit "\w+" reached: .*--limit \w+=\d+/);
      }
      const own = (await on.results(root)).filter((result) => result.status === 'error');
      for (const result of own) assert.match(result.output, new RegExp(`limit \\\\"${name}`));
      assert.equal((await on.store.tree(root.id))?.total, created + 1);
    }
  });

  it('the system prompt has the guidance of the vocabulary, for children too', async () => {
    const on = await stage(play([slash('fork look')]));
    await on.perform();
    for (const request of on.requests) {
      assert.equal(request.system, `system\n\n${slashToolset.guidance}`);
      assert.deepEqual(
        request.tools.map((tool) => tool.name),
        ['slash'],
      );
    }
    for (const line of [
      '### Sub-Agents',
      'slash {"command": "fork"}          a child that knows this whole conversation',
      'slash {"command": "send UUID MESSAGE"}',
      'slash {"command": "kill UUID"}',
      '**When to fork:**',
      '**When NOT to fork:**',
      '3. Child idles until you kill it or send more work',
      '- When you have nothing else to do, end your turn: mail wakes you',
      '- Share sibling UUIDs in prompts if children need to coordinate',
    ])
      assert.ok(slashToolset.guidance.split('\n').includes(line), line);
  });

  it('process and slash together are refused, for a root and for the profile of a child', async () => {
    const both = ['process', 'slash'];
    const terms = { profiles: new Map([['both', profileOf({ name: 'both', toolsets: both })]]) };
    const on = await stage(play([slash('fork --profile both work')]), { terms });
    const { root, agents } = await on.perform();
    assert.match(errorOf((await on.results(root))[0]).message, /process or slash, but not both/);
    assert.equal(agents.length, 1);
    await on.close();
    const other = await stage(play('unused'), { toolsets: both });
    await assert.rejects(
      other.start(),
      (error) => error instanceof CoppiceError && error.code === 'E_CONFIG' && /not both/.test(error.message),
    );
    assert.deepEqual(await other.store.agents({}), []);
  });
});
