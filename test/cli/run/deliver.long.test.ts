// Proves that `--deliver` brings the result of a run and of a workflow to where its person says, once: also after a kill -9, and from a server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { until } from '../../until.ts';
import { RULES, type WorkflowHome, workflowHome } from '../../workflows/run-workflow.ts';

const FORK = { calls: [{ name: 'fork', input: { name: 'scout', prompt: 'look' } }] };
const AGENTS = [
  { when: { root: true, user: '^begin', step: 0 }, ...FORK },
  { when: { root: true, user: '^begin' }, say: 'I have begun' },
  { when: { root: true, user: 'slow', step: 0 }, calls: [{ name: 'bash', input: { command: 'sleep 1' } }] },
  { when: { root: true, user: 'slow' }, say: 'slow and sure' },
  { when: { root: true }, say: 'all is well' },
  { when: { user: 'look' }, say: 'seen', delay_ms: 300 },
];

function homeWith(rules: readonly object[]): WorkflowHome & { readonly log: string } {
  const home = workflowHome(rules);
  const log = join(home.folder, 'log.md');
  home.configure({ model: 'scripted:rules.json', channels: { file: { log } } });
  return { ...home, log };
}

async function toldIn({ database }: WorkflowHome): Promise<readonly string[]> {
  const store = await openStore(database);
  try {
    return (await store.deliveries({})).map(({ target, body }) => `${target} ${body}`);
  } finally {
    await store.close();
  }
}

it('the answer with which a tree comes to rest, and none before; a target that is none starts nothing', async () => {
  const home = homeWith(AGENTS);
  const wrong = await home.run(['run', 'begin', '--deliver', 'file:log', '--deliver', 'pigeon:1']);
  assert.match(wrong.stderr, /deliver pigeon:1: no channel "pigeon"; write telegram:CHAT/);
  const { stdout, stderr } = await home.run(['run', 'begin', '--deliver', 'file:log', '--deliver', 'stdout']);
  assert.equal(stdout, 'all is well\n', stderr);
  assert.match(stderr, /nothing delivers now: start coppice serve/);
  assert.deepEqual((await toldIn(home)).toSorted(), ['file:log all is well', 'stdout all is well']);
  assert.doesNotMatch((await home.run(['run', 'be quick'])).stderr, /nothing delivers/);
  assert.equal((await toldIn(home)).length, 2, 'without the flag nothing is delivered');
});

it('of a workflow its end, after what notify told; a rerun tells its own', async () => {
  const home = homeWith(RULES);
  const body = "await notify('half'); return [await agent('say x'), await agent('boom')]";
  const script = home.script('told', body);
  const { code, stderr } = await home.run(['workflow', 'run', script, '--yes', '--deliver', 'file:log']);
  assert.equal(code, 1, stderr);
  const [end = '', half = ''] = await toldIn(home);
  assert.match(half, /^file:log \[Workflow told\] half$/);
  assert.match(
    end,
    /^file:log \[Workflow: told\] Complete, but 1 of 2 agents failed\.\n\nOf 2 agents 1 failed:/,
  );
  await home.run(['workflow', 'rerun', 'told']);
  assert.equal((await toldIn(home)).length, 3, 'its notify was told once');
  await home.run(['workflow', 'rerun', 'told', '--deliver', 'stdout']);
  assert.match((await toldIn(home))[0] ?? '', /^stdout \[Workflow: told\] Complete/);
  assert.equal((await toldIn(home)).length, 4, 'to that target only');
  const wrong = await home.run(['workflow', 'rerun', 'told', '--deliver', 'pigeon:1']);
  assert.deepEqual([wrong.code, /no channel "pigeon"/.test(wrong.stderr)], [2, true]);
  const broken = home.script('broken', "throw new Error('no way')");
  await home.run(['workflow', 'run', broken, '--yes', '--deliver', 'file:log']);
  assert.match((await toldIn(home))[0] ?? '', /^file:log \[Workflow: broken\] Failed: .*no way/);
});

it('once, by whichever process ends it', async () => {
  const home = homeWith(AGENTS);
  const { child, ended } = home.start(['run', 'be slow', '--yes', '--deliver', 'file:log']);
  await until(async () => (await home.run(['logs', 'main'])).stdout.includes('sleep 1'), 'it works');
  child.kill('SIGKILL');
  await ended;
  assert.deepEqual(await toldIn(home), []);
  assert.equal((await home.run(['resume'])).code, 0);
  assert.equal((await home.run(['resume'])).code, 0);
  assert.deepEqual(await toldIn(home), ['file:log slow and sure']);
});

it('a server that starts it delivers it', async () => {
  const home = homeWith([...RULES, ...AGENTS]);
  const server = home.start(['serve', '--listen', '0']);
  after(() => server.child.kill('SIGTERM'));
  await until(async () => (await home.run(['web', '--json'])).code === 0, 'the server listens');
  const url = new URL((await home.json('web')).url as string).origin;
  const token = (await home.run(['web', '--token'])).stdout.trim();
  const there = ['--server', url, '--deliver', 'file:log'];
  home.env.COPPICE_TOKEN = token;
  const script = home.script('served', "return agent('say done')");
  const flow = await home.run(['workflow', 'run', script, '--allow', 'workflow:served', ...there]);
  assert.equal(flow.stdout, 'done\n', flow.stderr);
  const ran = await home.run(['run', 'be quick', ...there]);
  assert.equal(ran.stdout, 'all is well\n', ran.stderr);
  const log = () => readFileSync(home.log, 'utf8');
  await until(
    () => /all is well/.test(log()) && /\[Workflow: served\] Complete\.\n\ndone/.test(log()),
    'both',
  );
});
