// Proves that a run that is run again takes every result that the earlier one has under the same key, continues what was interrupted, and asks a model for nothing else.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { steeredHome } from './steered-run.ts';

after(closeOpened);

type Home = Awaited<ReturnType<typeof steeredHome>>;

const STAGES = `
const began = new Date().toISOString()
const first = await parallel(['a', 'b', 'b'].map((n) => () => agent('say ' + n, { label: n, phase: 'one' })))
await sleep(0.01)
const last = await agent('say ' + first.join('') + Math.floor(Math.random() * 1e6), { phase: 'two' })
return { first, last, began }`;

async function ran(home: Home, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await home.run(['workflow', ...args]);
  assert.equal(code, 0, stderr);
  return stdout;
}

const counts = async (home: Home, run: string) => (await home.show(run)).counts;

describe('running a workflow run again', { concurrency: true }, () => {
  it('costs nothing if nothing has changed, also from a run that was itself run again', async () => {
    const home = await steeredHome();
    const first = await ran(home, 'run', home.script('stages', STAGES), '--yes');
    assert.equal(home.total(), 4);
    assert.equal(await ran(home, 'rerun', 'stages'), first);
    assert.deepEqual(await counts(home, 'stages'), {
      ...{ succeeded: 0, failed: 0, skipped: 0, reused: 4, running: 0 },
    });
    assert.equal(await ran(home, 'rerun', 'stages'), first);
    assert.equal(home.total(), 4, 'no request was made');
  });

  it('makes a changed call anew, and what depends on it; with --fresh also unchanged ones', async () => {
    const home = await steeredHome();
    const script = (second: string) => `
const [a, b] = await parallel([() => agent('say a'), () => agent('say ${second}', { phase: 'two' })])
return [await agent('say on ' + a), await agent('say on ' + b)]`;
    const before = home.script('before', script('b'));
    await ran(home, 'run', before, '--allow', 'workflow:before');
    const changed = home.script('changed', script('c'));
    const refused = await home.run(['workflow', 'rerun', 'before', '--script', changed]);
    assert.match(refused.stderr, /was not started: nobody can be asked/);
    const other = await ran(home, 'rerun', 'before', '--script', changed, '--yes');
    assert.deepEqual(JSON.parse(other), ['on a', 'on c']);
    const asked = { 'say a': 1, 'say b': 1, 'say on a': 1, 'say on b': 1, 'say c': 1, 'say on c': 1 };
    assert.deepEqual(Object.fromEntries(home.asked), asked);
    assert.deepEqual(await counts(home, 'changed'), {
      ...{ succeeded: 2, failed: 0, skipped: 0, reused: 2, running: 0 },
    });
    await ran(home, 'rerun', 'before', '--fresh', 'two', '--fresh', 'say-on-a');
    assert.deepEqual(Object.fromEntries(home.asked), { ...asked, 'say b': 2, 'say on a': 2 });
    const unknown = await home.run(['workflow', 'rerun', 'before', '--fresh', 'tow']);
    assert.match(unknown.stderr, /no call of the run has the label or phase "tow"[\s\S]*two/);
  });

  it('makes failed calls anew, takes those of workflows within it, and gives other args to the script', async () => {
    const home = await steeredHome();
    home.script('inner', "return [await agent('say in'), await agent('fail ' + args.n)]");
    const body = "return [args.n, await workflow('./inner.js', { n: args.n }), await agent('say out')]";
    const started = await home.run([
      ...['workflow', 'run', home.script('outer', body), '--yes', '--args', '{"n":1}'],
    ]);
    assert.equal(started.code, 1, started.stderr);
    const failed = home.asked.get('fail 1') ?? 0;
    assert.equal((await home.run(['workflow', 'rerun', 'outer'])).code, 1);
    assert.equal(home.asked.get('fail 1'), 2 * failed);
    await home.run(['workflow', 'rerun', 'outer', '--args', '{"n":2}']);
    assert.equal(home.asked.get('fail 2'), failed);
    assert.deepEqual([home.asked.get('say in'), home.asked.get('say out')], [1, 1]);
  });

  it('is refused while the run is at work; once it is ended, agents go on in the middle of their turn', async () => {
    const home = await steeredHome();
    writeFileSync(join(home.work, 'step.sh'), 'echo done >> deeds; test -e go || sleep 600; echo went on');
    const body = "return [await agent('say a'), await agent('run sh step.sh')]";
    const { ended } = home.start(['workflow', 'run', home.script('cut', body), '--yes']);
    await until(async () => (await home.run(['logs', 'run-sh-step-sh'])).stdout.includes('step.sh'));
    const refused = await home.run(['workflow', 'rerun', 'cut']);
    assert.match(refused.stderr, /still at work[\s\S]*coppice workflow resume .* coppice kill /);
    await home.run(['kill', 'cut']);
    await ended;
    const out = await ran(home, 'rerun', 'cut');
    assert.match(out, /Interrupted: the run of the workflow ended while this call ran/);
    assert.equal(home.asked.get('say a'), 1);
    assert.equal(home.asked.get('run sh step.sh'), 2, 'one request before the kill, one with its result');
  });

  it('never runs an agent in a worktree twice', async () => {
    const home = await steeredHome();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: home.work,
      });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const body = `return parallel([
  () => agent('run echo one > one; pwd', { isolation: 'worktree', label: 'done' }),
  () => agent('run pwd; sleep 600', { isolation: 'worktree', label: 'cut' })])`;
    const { ended } = home.start(['workflow', 'run', home.script('trees', body), '--yes']);
    await until(async () => (await home.show('trees')).counts?.succeeded === 1);
    await until(async () => (await home.run(['logs', 'cut'])).stdout.includes('sleep'));
    const { id } = await home.show('trees');
    await home.run(['kill', 'trees']);
    await ended;
    const [, again] = JSON.parse(await ran(home, 'rerun', id));
    assert.match(again, /Interrupted: the run of the workflow ended/);
    const twice = await home.run(['workflow', 'rerun', id]);
    assert.equal(twice.code, 1);
    assert.match(
      twice.stdout,
      /cut began this in a worktree of its own .* and is not run twice: another run continues it/,
    );
    assert.equal(home.asked.get('run echo one > one; pwd'), 2, 'its two requests of the first run');
  });
});
