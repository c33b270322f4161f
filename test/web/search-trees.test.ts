// Proves that the search of the dashboard finds trees by how they ended: by every outcome, and by the titles of the groups, in upper and lower case.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CUT_RESTS, OUTCOMES } from '../../src/records/run/outcome.ts';
import { GROUPS, groupOf, matches, type Tree } from '../../web/views/search-trees.ts';

const TREES = OUTCOMES.map(
  (outcome) =>
    ({
      outcome,
      outcome_text: outcome,
      status: 'done',
      title: 'T',
      cwd: '/',
      model: 'm',
      root_id: 'r',
      name: 'main',
    }) as Tree,
);
const found = (search: string) => TREES.filter((tree) => matches(tree, search)).map(({ outcome }) => outcome);

it('by every outcome, and by what a group lists', () => {
  for (const { title, of } of GROUPS) {
    for (const word of [title, title.toUpperCase(), title.toLowerCase()])
      assert.deepEqual(found(`status:${word.replace(' ', '-')}`).toSorted(), of.toSorted(), word);
    for (const outcome of of) assert.ok(found(`outcome:${outcome.toUpperCase()}`).includes(outcome));
  }
  for (const outcome of ['declined', 'stopped', 'waiting', 'waiting_for_you', 'unled', 'cut_short'])
    assert.deepEqual(found(`Status:${outcome}`), [outcome]);
  assert.deepEqual(found('status:cut'), ['cut_short']);
  assert.deepEqual(found('status:nosuch'), []);
  assert.deepEqual(found('status:done MAIN'), ['done', 'stopped']);
});

it('one that rests where it was cut needs nobody, one that lost its process does', () => {
  const unled = TREES.filter(({ outcome }) => outcome === 'unled')[0] as Tree;
  assert.equal(groupOf(unled).key, 'you');
  assert.equal(groupOf({ ...unled, outcome_text: `unled: ${CUT_RESTS}` }).key, 'done');
});
