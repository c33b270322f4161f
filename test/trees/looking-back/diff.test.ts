// Proves, on both databases, that two trees of twenty agents are the same if only ids, times, durations and folders differ; and that of two that differ the
// first difference is named, with its lines, and what else is different in which agent.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { writeTool } from '../../../src/tools/files/write.ts';
import { diffDocument } from '../../../src/trees/looking-back/diff.ts';
import { onBothDatabases, stagesOn } from '../../runtime/both-databases.ts';
import { forked, type Play, parsed } from '../../runtime/stage.ts';

/** Twenty agents: the root forks four, each of which forks three and waits for them, and one of their children another one. */
const playOf =
  (changed: Readonly<Record<string, string>> = {}): Play =>
  (scene) => {
    const { name, step } = scene;
    const kids = name === 'main' ? 4 : /^kid-\d$/.test(name) ? 3 : name === 'kid-1-1' ? 3 : 0;
    const words = changed[name] ?? `words of ${name}`;
    if (kids === 0) {
      if (step === 0) return [['write', { path: `${name}.txt`, content: `# ${name}\n${words}\nend\n` }]];
      return `${words}, at ${new Date().toISOString()}`;
    }
    const prefix = name === 'main' ? 'kid' : name;
    if (step === 0)
      return Array.from({ length: kids }, (_, index) => [
        'fork',
        { name: `${prefix}-${index + 1}`, prompt: `be ${index + 1}` },
      ]);
    if (step === 1) return [['wait', { timeout: 60, from_agents: forked(scene) }]];
    const { results = [] } = parsed(scene.last[0]) as { results?: readonly unknown[] };
    return `${words}: ${results.length} are back`;
  };

/** Removes what a run has written, so that the next one writes it, too. */
function forget(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith('.txt')) rmSync(join(folder, name));
}

const brief = async (store: Store, a: string, b: string) => {
  const { same, first, agents } = await diffDocument(store, a, b);
  const differ = agents.filter(({ differs }) => differs.length > 0);
  return {
    same,
    first,
    count: agents.length,
    differ: differ.map(({ path, differs }) => `${path}: ${differs}`),
  };
};

onBothDatabases('diff', (database) => {
  const stage = stagesOn(database, { tools: [writeTool as never] });

  it('finds two runs of the same the same', async () => {
    const on = await stage(playOf());
    const { root: a } = await on.perform('go');
    forget(a.config.cwd);
    const { root: b } = await on.perform('go');
    const found = await brief(on.store, a.id, b.id);
    assert.deepEqual(found, { same: true, first: null, count: 20, differ: [] });
  });

  it('names the first difference, with its lines, and what differs in which agent', async () => {
    const on = await stage(playOf());
    const { root: a } = await on.perform('go');
    forget(a.config.cwd);
    const other = await on.reopen(playOf({ 'kid-2-3': 'something else' }));
    const { root: b } = await other.perform('go');
    const { first, ...found } = await brief(other.store, a.id, b.id);
    assert.deepEqual(found, {
      same: false,
      count: 20,
      differ: ['main/kid-2: messages', 'main/kid-2/kid-2-3: answer,messages'],
    });
    assert.equal(first?.path, 'main/kid-2/kid-2-3');
    assert.equal(first.what, 'answer');
    assert.equal(first.a_seq, first.b_seq);
    assert.match(first.diff ?? '', / {2}content: # kid-2-3\n-words of kid-2-3\n\+something else\n/);
    const { root: c } = await other.perform('go in 5 s');
    const { root: d } = await other.perform('go in 6 s');
    const prompts = await diffDocument(other.store, c.id, d.id);
    assert.deepEqual([prompts.first?.path, prompts.first?.what], ['main', 'prompt']);
    // Two agents of the same tree, and an agent that only one of them has.
    const [two, three] = [await other.store.find('kid-2', b.id), await other.store.find('kid-3', b.id)];
    const within = await diffDocument(other.store, two[0]?.id ?? '', three[0]?.id ?? '');
    assert.deepEqual(
      within.agents.map(({ path, a: one, b: two }) => [path, one !== null, two !== null]).slice(0, 3),
      [
        ['main', true, true],
        ['main/kid-2-1', true, false],
        ['main/kid-2-2', true, false],
      ],
    );
  });
});
