/**
 * Proves `coppice/testing` (docs/testing-agents.md): a coppice for tests on a ledger in memory with a scripted model, a clock that passes at once, and
 * `expectTree`, which shows what differs.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { expectTree, FakeClock, openTest } from '../../src/testing.ts';
import { until } from '../until.ts';

const FORKS = [
  { when: { agent: 'helper' }, say: 'helped with 3 files' },
  { when: { step: 0 }, calls: [{ name: 'fork', input: { name: 'helper', prompt: 'help' } }] },
  { say: 'done' },
];

it('a tree is compared with what is expected, down to the children', async () => {
  const coppice = await openTest({ rules: FORKS });
  const agent = await coppice.start({ prompt: 'begin' });
  const right = { name: 'main', outcome: 'done', reply: 'done' } as const;
  await expectTree(agent, { ...right, children: [{ name: 'helper', reply: /\d files/, children: [] }] });
  await expectTree(agent, { outcome: 'done' });
  for (const wrong of [
    { ...right, reply: 'other' },
    { children: [] },
    { children: [{ name: 'helper' }, {}] },
    { children: [{ reply: /^\d/ }] },
  ])
    await assert.rejects(expectTree(agent, wrong), { code: 'ERR_ASSERTION' });
  assert.equal(coppice.requests[0]?.messages.length, 1);
  await coppice.close();
  assert.equal(existsSync('memory.db'), false);
});

it('time passes at once: a time-out of an hour ends in a test of a moment', async () => {
  const clock = new FakeClock();
  const coppice = await openTest({ clock, rules: [{ delay_ms: 600_000, say: 'late' }] });
  const agent = await coppice.start({ prompt: 'x', timeout_ms: 3_600_000 });
  await until(() => coppice.requests.length === 1, 'it is at work');
  clock.pass(3_600_000);
  await expectTree(agent, { outcome: 'cut_short' });
  await coppice.close();
});

it('wrong options are refused as by openCoppice, and two coppices share nothing', async () => {
  await assert.rejects(openTest({ thinking: 'huge' as never }), { code: 'E_CONFIG' });
  for (const [rules, message] of [
    [[{ sya: 'x' }], /^openTest: .*"rules\.0\.sya": not known$/],
    [[{ say: 'x', when: { agnt: 'x' } }], /"rules\.0\.when\.agnt": not known/],
    [[{ calls: [{ name: 'x' }] }], /"rules\.0\.calls\.0\.input": missing/],
  ] as const)
    await assert.rejects(openTest({ rules: rules as never }), { code: 'E_RULES', message });
  const [one, two] = [await openTest(), await openTest()];
  await (await one.start({ prompt: 'x' })).result();
  assert.deepEqual([(await one.trees()).trees.length, (await two.trees()).trees.length], [1, 0]);
  await Promise.all([one.close(), two.close()]);
});

it('opens in another program that runs JavaScript and is as new as the Node that it needs', async () => {
  const real = process.versions;
  const disguise = (versions: object) => Object.defineProperty(process, 'versions', { value: versions });
  try {
    disguise({ ...real, bun: '1.4.5' });
    await (await openTest()).close();
    disguise({ ...real, bun: '1.2.0', node: '22.6.0' });
    await assert.rejects(openTest(), { code: 'E_NODE_TOO_OLD', message: /this is v22\.6\.0/ });
  } finally {
    disguise(real);
  }
});
