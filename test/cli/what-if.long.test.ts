/** Proves that a what-if that is killed again and again runs nothing that has ended once more, on both databases, and that a judge decides and a budget binds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { type WhatIfHome, whatIfHome } from './what-if-home.ts';

let postgres: Databases;
before(async () => {
  postgres = await sharedPostgres();
});
after(() => postgres.stop());

/** Answers of continuations that have ended, by the id of their agent, and how many trees were made. */
async function ended(database: string) {
  const store = await openStore(database);
  const agents = await store.agents({});
  await store.close();
  const cells = agents.filter(({ config }) => config.task?.workflow?.phase === 'Continue');
  return {
    ends: new Map(
      cells.filter(({ state }) => state.type === 'completed').map(({ id, reply }) => [id, reply]),
    ),
    trees: agents.filter(({ parent_id, was }) => parent_id === null && was !== undefined).length,
  };
}

for (const kind of ['sqlite', 'postgres'] as const)
  it(`goes on after kill -9 on ${kind}`, { timeout: 120_000 }, async () => {
    const url = kind === 'sqlite' ? undefined : await postgres.createDatabase();
    const home: WhatIfHome = await whatIfHome(url);
    const database = url ?? home.database;
    const order = [
      ...[
        'what-if',
        home.tree,
        '--at',
        `before ${home.at}`,
        '--model',
        'scripted:../a.json,scripted:../b.json',
      ],
      ...['--times', '2', '--at-once', '1', '--check', 'node new.js'],
      ...(url === undefined ? [] : ['--database', url]),
    ];
    // One continuation goes on at a time: each process is killed as soon as another one has ended.
    const seen = new Map<string, string | null>();
    for (let kills = 1; kills <= 3; kills += 1) {
      const { child, ended: closed } = home.start(order);
      await until(async () => (await ended(database)).ends.size >= kills, `${kills} have ended`);
      child.kill('SIGKILL');
      await closed;
      for (const [id, reply] of (await ended(database)).ends) {
        assert.equal(seen.get(id) ?? reply, reply);
        seen.set(id, reply);
      }
    }
    const { cells, best } = await home.what_if(...order.slice(2, 10), '--check', 'node new.js');
    const { ends, trees } = await ended(database);
    for (const [id, reply] of seen) assert.equal(ends.get(id), reply, 'what has ended stays as it was');
    assert.deepEqual([ends.size, trees], [4, 4], 'nothing is made twice');
    // One that a kill met while it wrote is told so, and may go on without the file; the first one was never met.
    for (const { name, outcome, passed } of cells) {
      assert.equal(outcome, 'done');
      if (name.includes('b.json')) assert.equal(passed, false);
    }
    assert.equal(cells[0]?.check, 'ok');
    assert.match(best ?? '', /a\.json/);
    // A command that a kill interrupted is not repeated by its agent.
    assert.ok(readFileSync(home.log, 'utf8').split('\n').length <= 5);
  });

it('an agent judges, and each continuation may spend its share', async () => {
  const home = await whatIfHome();
  const order = ['--at', `before ${home.at}`, '--model', 'scripted:../a.json,scripted:../b.json'];
  const judged = await home.what_if(...order, '--judge', 'Which is better?');
  assert.deepEqual([judged.best, judged.why], ['scripted:../b.json', 'I like it']);
  const other = await home.what_if(...order, '--judge', 'Which?', '--judge-model', 'scripted:../b.json');
  assert.deepEqual([other.best, other.why], ['scripted:../b.json', 'I like it']);
  const poor = await home.what_if(...order, '--again', 'poor', '--limit', 'tokens=2');
  for (const { outcome, outcome_text, passed } of poor.cells) {
    assert.deepEqual([outcome, passed], ['cut_short', false]);
    assert.match(outcome_text, /limit "tokens"/);
  }
  const { stdout } = await home.run([
    'what-if',
    home.tree,
    ...order,
    '--again',
    'poor',
    '--limit',
    'tokens=2',
  ]);
  assert.match(stdout, /^ +scripted:\.\.\/a\.json +\w{8} +cut short +\d/m, 'the table has the word alone');
  assert.match(stdout, /^scripted:\.\.\/a\.json: cut short: limit "tokens"/m);
});
