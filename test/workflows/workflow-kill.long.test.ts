// Proves that a workflow survives SIGKILL at any moment: it goes on where it was, asks for nothing twice, and has the result of an undisturbed run, on both databases.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { killAndResume } from '../crash/killed-run.ts';
import { type Databases, sharedPostgres } from '../postgres/shared-postgres.ts';
import { until } from '../until.ts';
import { turnsOf, workflowHome } from './run-workflow.ts';

const RULES = [
  { when: { user: '^slow ' }, delay_ms: 150, say: '{{user.^slow ([^\\n]*)}}' },
  { when: { user: '^pass ' }, delay_ms: 40, say: '{{user.^pass ([^\\n]*)}}' },
];
const BODY = `
const seen = []
phase('First')
const first = await parallel([1, 2, 3, 4].map((n) => () => agent('slow ' + n)))
await sleep(0.3)
phase('Second')
const second = await pipeline(first, (one) => agent('pass ' + one + 'a'), (one, _, index) => agent('slow ' + one + index))
const raced = await Promise.race([agent('pass quick'), sleep(60).then(() => 'late')])
const failed = await agent('boom')
const inner = await workflow('./inner.js', { n: 5 })
for (let n = 0; n < 4; n++) seen.push(await agent('pass turn ' + n))
return { first, second, raced, failed, inner, seen, same: Math.random() }`;
const INNER = "return [args.n, await agent('slow inner'), await agent('pass inner')]";
const WANTED = {
  ...{ first: ['1', '2', '3', '4'], second: ['1a0', '2a1', '3a2', '4a3'], raced: 'quick', failed: null },
  ...{ inner: [5, 'inner', 'inner'], seen: [0, 1, 2, 3].map((n) => `turn ${n}`) },
};
const PROMPTS = [
  ...[1, 2, 3, 4].flatMap((n) => [`slow ${n}`, `pass ${n}a`, `slow ${n}a${n - 1}`]),
  ...['pass quick', 'slow inner', 'pass inner', ...[0, 1, 2, 3].map((n) => `pass turn ${n}`)],
];

let postgres: Databases;
before(async () => {
  postgres = await sharedPostgres();
});
after(() => postgres.stop());

/** Cuts at these moments after each start; later than the first ones the run may already be over. */
const cuts = [
  [350, 700],
  [600, 1_100],
  [800, 1_600],
] as const;
for (const database of ['sqlite', 'postgres'] as const)
  for (const after_ms of database === 'sqlite' ? cuts : cuts.slice(1, 2))
    it(`killed again and again on ${database}, after ${after_ms.join(' to ')} ms`, {
      timeout: 120_000,
    }, async (context) => {
      const home = workflowHome(RULES);
      const script = home.script('killed', BODY);
      home.script('inner', INNER);
      const url = database === 'sqlite' ? home.database : await postgres.createDatabase();
      const common = [
        '--model',
        'scripted:rules.json',
        '--json',
        ...(database === 'sqlite' ? [] : ['--database', url]),
      ];
      const run = ['workflow', 'run', script, '--yes'];
      const { kills, reply } = await killAndResume({ ...home, database: url }, run, common, {
        ...{ most_kills: 5, after_ms, code: 1 },
      });
      context.diagnostic(`${kills} kills`);
      const { same, ...result } = JSON.parse(reply.slice(reply.indexOf('\n\n')));
      assert.deepEqual(result, WANTED);
      assert.equal(typeof same, 'number');
      assert.match(reply, /^Of \d+ agents 1 failed:\n- boom: no rule/);
      const turns = await turnsOf(url);
      for (const prompt of PROMPTS) assert.equal(turns.get(prompt), 1, `${prompt}: ${turns.get(prompt)}`);
      assert.ok(kills >= 1, 'the faults must fire');
    });

it('an answer to ask() that comes while no process leads the run reaches its script, and nobody is asked again', async () => {
  for (const order of ['none', 'stop']) {
    const home = workflowHome();
    const script = home.script('asks', "return ask('Which colour?', { choices: ['red', 'blue'] })");
    const { child, ended } = home.start(['workflow', 'run', script, '--yes', '--ask']);
    const asked = async () =>
      (await home.json('approvals').catch(() => ({ approvals: [] }))).approvals as { id: string }[];
    await until(async () => (await asked()).length === 1, 'the question');
    if (order === 'stop') await home.run(['workflow', 'stop', 'asks']);
    child.kill('SIGKILL');
    await ended;
    await home.run(['approvals', 'allow', (await asked())[0]?.id ?? '', '2']);
    // Nobody can be asked any more: the answer is there.
    const { stdout, stderr } = await home.run(['workflow', 'resume', 'asks', '--timeout', '20']);
    assert.equal(stdout, 'blue\n', stderr);
    assert.deepEqual(await asked(), []);
  }
});
