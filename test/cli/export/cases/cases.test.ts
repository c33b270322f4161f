/** Proves that a run is recorded as a case without secrets, and that a replay acts on nothing and names what differs today. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../../run-cli.ts';

const RULES = [
  {
    when: { root: true, step: 0 },
    calls: ['a', 'b'].map((name) => ({ name: 'fork', input: { name, prompt: 'look' } })),
  },
  {
    when: { root: true, step: 1 },
    calls: [{ name: 'wait', input: { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' } }],
  },
  { when: { root: true, user: 'again' }, say: 'once more' },
  {
    when: { root: true, step: 2 },
    calls: [{ name: 'bash', input: { command: 'touch made; echo key-123456789' } }],
  },
  { when: { root: true }, say: 'all done with key-123456789' },
  { when: { step: 0 }, calls: [{ name: 'bash', input: { command: 'date +%N' } }] },
  { say: 'I am {{agent.name}}' },
];

async function recorded() {
  const home = makeHome();
  home.env.MY_API_KEY = 'key-123456789';
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: RULES }));
  const run = await home.run(['run', 'go', '--model', 'scripted:rules.json', '--allow', 'bash']);
  assert.equal(run.code, 0, run.stderr);
  assert.ok(existsSync(join(home.work, 'made')));
  rmSync(join(home.work, 'made'));
  const file = join(home.work, 'case.json');
  const record = await home.run(['record', '--out', file]);
  assert.equal(record.code, 0, record.stderr);
  assert.match(record.stderr, /^recorded: agents 3, answers 8, results of tools 3 /);
  return { home, file };
}

it('a replay gives the recorded answers and results, in any folder, and runs nothing', async () => {
  const { home, file } = await recorded();
  assert.doesNotMatch(readFileSync(file, 'utf8'), /key-1234/);
  assert.match(readFileSync(file, 'utf8'), /all done with \[hidden\]/);
  rmSync(join(home.work, 'rules.json'));
  const same = await home.run(['replay', file]);
  assert.deepEqual([same.code, same.stdout], [0, `✓ ${file}: as recorded (requests: 8)\n`]);
  assert.ok(!existsSync(join(home.work, 'made')), 'nothing was run');
});

it('a changed prompt is named by agent and request, and an update takes it over', async () => {
  const { home, file } = await recorded();
  home.configure({ agents: { defaults: { system: 'Be brief.' } } });
  const other = await home.run(['replay', file]);
  assert.equal(other.code, 1);
  assert.match(
    other.stdout,
    /not as recorded by .*\n {2}main, request 1: system text differs\n[\s\S]*\n {2}\+Be brief\./,
  );
  const { divergences, requests } = JSON.parse((await home.run(['replay', file, '--json'])).stdout);
  assert.deepEqual([requests, divergences.map((one: { what: string }) => one.what)], [8, ['system text']]);
  assert.equal((await home.run(['replay', file, '--update'])).code, 1);
  assert.equal((await home.run(['replay', file])).code, 0);
});

it('what is no case, and a run that cannot be repeated, are refused with the reason', async () => {
  const home = makeHome();
  const file = join(home.work, 'case.json');
  writeFileSync(file, '{"schema":"coppice/case/v1"}');
  const none = await home.run(['replay', file]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /case\.json is no recorded case: field "version": missing [^;]*; field "/);
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ say: 'idle' }] }));
  const start = await home.run(['run', 'go', '--model', 'scripted:rules.json', '--detach']);
  assert.equal(start.code, 0);
  const early = await home.run(['record']);
  assert.deepEqual(
    [early.code, /cannot be recorded: main is still at work/.test(early.stderr)],
    [1, true],
    early.stderr,
  );
});
