// Proves that the real kernel and executor, in several processes on one real ledger, keep every law and finish all work whatever faults hit
// store, model, tools and processes; that every kind of fault occurs; and that a seed determines the run completely.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEEP } from '../house/deep.ts';
import { FAULTS, type Fault } from './faults.ts';
import { type SimReport, simulate } from './simulate.ts';

const SEEDS = DEEP ? 40 : 5;
/** Seeds per test; each takes seconds on a loaded machine. */
const BATCH = 5;
/** Of each kind of tree. */
const KIND_SEEDS = DEEP ? Array.from({ length: 40 }, (_, at) => at + 1) : [2];

function sum(reports: readonly SimReport[], of: (report: SimReport) => number): number {
  return reports.reduce((total, report) => total + of(report), 0);
}

describe('simulation', () => {
  const reports: SimReport[] = [];

  for (let first = 1; first <= SEEDS; first += BATCH)
    it(`seeds ${first} to ${first + BATCH - 1}: every law is kept, and all work comes to its end`, async () => {
      for (let seed = first; seed < first + BATCH; seed += 1) {
        const report = await simulate(seed);
        assert.deepEqual(report.failures, [], `npm run sim -- --seed ${seed} --trace`);
        reports.push(report);
      }
    });

  it('the faults struck, each kind of them in forty runs, and there was work to disturb', () => {
    assert.equal(reports.length, SEEDS);
    const kinds = Object.keys(FAULTS) as Fault[];
    assert.ok(kinds.length >= 15);
    const struck = kinds.filter((kind) => sum(reports, ({ faults }) => faults.get(kind) ?? 0) > 0);
    if (DEEP) assert.deepEqual(struck, kinds);
    assert.ok(struck.length >= 12, `only ${struck.join(', ')}`);
    assert.ok(sum(reports, ({ agents }) => agents) >= SEEDS * 4, 'too few agents');
    assert.ok(sum(reports, ({ steps }) => steps) >= SEEDS * 30, 'too few steps');
    assert.ok(sum(reports, ({ stale_epochs }) => stale_epochs) > 0, 'nobody ever wrote with a stale epoch');
  });

  it('the same seed is the same run; another seed is another run', async () => {
    assert.equal(reports.length, SEEDS);
    const hashes = reports.map(({ hash }) => hash);
    assert.equal(new Set(hashes).size, SEEDS);
    for (const seed of DEEP ? [3, 7, 17] : [3]) {
      const { hash } = await simulate(seed);
      assert.equal(hash, hashes[seed - 1]);
    }
  });

  it('agents that share a task list add, claim and finish each task once, whoever dies meanwhile', async () => {
    const lists = { added: 0, done: 0 };
    for (const seed of KIND_SEEDS) {
      const { failures, tasks } = await simulate(seed, { tasks: true });
      assert.deepEqual(failures, [], `npm run sim -- --seed ${seed} --tasks --trace`);
      lists.added += tasks.added;
      lists.done += tasks.done;
    }
    assert.ok(lists.added >= KIND_SEEDS.length && lists.done > 0, JSON.stringify(lists));
  });

  it('a provider that takes no requests now and then is asked nothing then, and costs no work, whoever dies meanwhile', async () => {
    const pauses = { closed: 0, refused: 0, parked: 0 };
    for (const seed of KIND_SEEDS) {
      const report = await simulate(seed, { pauses: true });
      assert.deepEqual(report.failures, [], `npm run sim -- --seed ${seed} --pauses --trace`);
      for (const name of Object.keys(pauses) as (keyof typeof pauses)[])
        pauses[name] += report.pauses?.[name] ?? 0;
    }
    assert.ok(
      Object.values(pauses).every((times) => times >= KIND_SEEDS.length),
      JSON.stringify(pauses),
    );
  });

  it('calls that create agents wait for people, whoever dies meanwhile', async () => {
    const creations = { asked: 0, allowed: 0 };
    for (const seed of KIND_SEEDS) {
      const report = await simulate(seed, { asks: true });
      assert.deepEqual(report.failures, [], `npm run sim -- --seed ${seed} --asks --trace`);
      creations.asked += report.creations.asked;
      creations.allowed += report.creations.allowed;
    }
    assert.ok(creations.allowed > 0 && creations.asked > creations.allowed, JSON.stringify(creations));
  });

  it('workflow runs keep their laws, and every answer of them is given again from the conversation', async () => {
    const totals = { runs: 0, agents: 0, replayed: 0 };
    for (const seed of KIND_SEEDS) {
      const { failures, workflows } = await simulate(seed, { workflows: true });
      assert.deepEqual(failures, [], `npm run sim -- --seed ${seed} --workflows --trace`);
      for (const name of ['runs', 'agents', 'replayed'] as const) totals[name] += workflows[name];
    }
    assert.ok(
      totals.runs > KIND_SEEDS.length && totals.agents > 0 && totals.replayed > 5 * KIND_SEEDS.length,
      JSON.stringify(totals),
    );
  });
});
