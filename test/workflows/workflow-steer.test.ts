// Proves that a workflow run is paused, stopped and let go on from any process, whichever process leads it, and that nothing finished is asked again.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { steeredHome } from './steered-run.ts';

after(closeOpened);

const TWO_STAGES = `
const first = await parallel(['a', 'b'].map((n) => () => agent('hold ' + n)))
const second = await parallel(first.map((n) => () => agent('say ' + n + '2')))
return { first, second }`;
const WANTED = { first: ['a', 'b'], second: ['a2', 'b2'] };

describe('pausing a workflow run', { concurrency: true }, () => {
  it('lets what is under way end and begins nothing new; it goes on in another process', async () => {
    const home = await steeredHome();
    const { ended } = home.start(['workflow', 'run', home.script('two', TWO_STAGES), '--yes']);
    await home.isHeld('a');
    await home.isHeld('b');
    const paused = await home.run(['workflow', 'pause', 'two']);
    assert.equal(paused.code, 0, paused.stderr);
    assert.match(paused.stdout, /^two pauses: .*; go on with: coppice workflow resume [\da-f]{8}\n$/);
    home.letGo('a');
    home.letGo('b');
    const left = await ended;
    assert.equal(left.code, 75, left.stderr);
    assert.match(left.stderr, /paused by you; nothing is lost/);
    assert.equal(home.total(), 2, 'the second stage was not begun');
    const shown = await home.show('two');
    assert.equal(shown.outcome_text, 'waiting: paused by you');
    const again = await home.run(['resume', shown.id]);
    assert.equal(again.code, 75, 'a takeover does not end the pause');
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', 'two']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), WANTED);
    assert.deepEqual(
      [...home.asked].sort(),
      ['hold a', 'hold b', 'say a2', 'say b2'].map((one) => [one, 1]),
    );
  });

  it('holds after kill -9 of the leader, and goes on in the process that leads it when the order comes from another', async () => {
    const home = await steeredHome();
    home.script('inner', "return [await agent('hold in'), await agent('say deep')]");
    const body = "return Promise.all([workflow('./inner.js'), agent('hold out')])";
    const first = home.start(['workflow', 'run', home.script('outer', body), '--yes']);
    await home.isHeld('in');
    await home.isHeld('out');
    assert.equal((await home.run(['workflow', 'pause', 'inner'])).code, 0);
    first.child.kill('SIGKILL');
    await first.ended;
    // Both requests are lost with the process; that of the paused run is not made again.
    const second = home.start(['workflow', 'resume', 'outer']);
    await until(() => home.asked.get('hold out') === 2, 'the second request');
    await until(
      async () => (await home.show('inner')).agents?.[0]?.outcome_text === 'waiting: paused by you',
    );
    assert.equal(home.asked.get('hold in'), 1);
    home.letGo('in');
    const resumed = await home.run(['workflow', 'resume', 'inner']);
    assert.deepEqual([resumed.code, resumed.stdout], [0, 'inner goes on\n'], resumed.stderr);
    await until(() => home.asked.get('say deep') === 1, 'the rest of the paused run');
    home.letGo('out');
    const { code, stdout, stderr } = await second.ended;
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), [['in', 'deep'], 'out']);
  });

  it('does not send what waits for its turn at the provider', async () => {
    const home = await steeredHome({}, { maxConcurrent: 1 });
    const body = "return parallel(['a', 'b', 'c', 'd'].map((n) => () => agent('hold ' + n)))";
    const { ended } = home.start(['workflow', 'run', home.script('queue', body), '--yes']);
    await until(() => home.total() === 1, 'the first request');
    await home.run(['workflow', 'pause', 'queue']);
    await until(async () => (await home.run(['logs', 'queue'])).stdout.includes('paused by you'));
    for (const what of ['a', 'b', 'c', 'd']) home.letGo(what);
    assert.equal((await ended).code, 75);
    assert.equal(home.total(), 1);
    const { code, stdout } = await home.run(['workflow', 'resume', 'queue']);
    assert.deepEqual([code, JSON.parse(stdout)], [0, ['a', 'b', 'c', 'd']]);
    assert.equal(home.total(), 4);
  });
});

describe('stopping a workflow run', { concurrency: true }, () => {
  it('breaks off requests and commands; they are made again or told when it goes on, and what has ended is not', async () => {
    const home = await steeredHome();
    const body = `
const done = await agent('say done')
return [done, ...(await parallel([() => agent('hold open'), () => agent('run touch began; sleep 600')]))]`;
    const { ended } = home.start(['workflow', 'run', home.script('cut', body), '--yes']);
    await home.isHeld('open');
    await until(() => existsSync(join(home.work, 'began')), 'the command');
    const stopped = await home.run(['workflow', 'stop', 'cut', '--json']);
    const order = JSON.parse(stopped.stdout);
    assert.deepEqual([order.ordered, order.name, order.led], ['stop', 'cut', true]);
    const left = await ended;
    assert.equal(left.code, 75, left.stderr);
    assert.match(
      left.stderr,
      /stopped by you; nothing is lost, continue with: coppice workflow resume [\da-f]{8}/,
    );
    home.letGo('open');
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', 'cut']);
    assert.equal(code, 0, stderr);
    const [done, open, ran] = JSON.parse(stdout);
    assert.deepEqual([done, open], ['done', 'open']);
    assert.match(ran, /^ran: Interrupted: a person stopped the workflow while this call ran/);
    assert.deepEqual([...home.asked].sort(), [
      ['hold open', 2],
      ['run touch began; sleep 600', 2],
      ['say done', 1],
    ]);
  });

  it('ends a process that waits for the answer to a question, which can be given meanwhile', async () => {
    const home = await steeredHome();
    const body = "return ask('which?', { choices: ['red', 'blue'] })";
    const { ended } = home.start(['workflow', 'run', home.script('asks', body), '--yes', '--ask']);
    const open = async () => (await home.json('approvals', 'list')).approvals as { short_id: string }[];
    await until(async () => (await open()).length > 0, 'the question');
    assert.equal((await home.run(['workflow', 'stop', 'asks'])).code, 0);
    const left = await ended;
    assert.equal(left.code, 75, left.stderr);
    assert.match(left.stderr, /stopped by you; nothing is lost, continue with: coppice workflow resume/);
    const [question] = await open();
    await home.run(['approvals', 'allow', String(question?.short_id), 'blue']);
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', 'asks']);
    assert.deepEqual([code, stdout.trim()], [0, 'blue'], stderr);
  });

  it('is refused for what is no run, and for one that has ended', async () => {
    const home = await steeredHome();
    await home.workflow("return agent('say x')");
    const over = await home.run(['workflow', 'stop', 'script-1']);
    assert.deepEqual([over.code, over.stderr.includes('has ended: done')], [1, true], over.stderr);
    await home.run(['run', 'say plain', '--name', 'plain']);
    const plain = await home.run(['workflow', 'pause', 'plain']);
    assert.deepEqual([plain.code, plain.stderr.includes('is not a workflow run')], [2, true], plain.stderr);
    assert.equal((await home.run(['workflow', 'pause', 'nobody'])).code, 3);
  });
});

describe('the agents of a workflow run', { concurrency: true }, () => {
  it('are skipped, which is no failure, and counted', async () => {
    const home = await steeredHome();
    const body = `
const got = await parallel(['x', 'y'].map((n) => () => agent('hold ' + n, { label: 'agent-' + n })))
const failed = await agent('fail')
return { got, failed, failures: agent.failures() }`;
    const { ended } = home.start(['workflow', 'run', home.script('skips', body), '--yes']);
    await home.isHeld('x');
    await home.isHeld('y');
    const none = { succeeded: 0, failed: 0, skipped: 0, reused: 0 };
    assert.deepEqual((await home.show('skips')).counts, { ...none, running: 2 });
    const skipped = await home.run(['workflow', 'skip', 'agent-x']);
    assert.deepEqual(
      [skipped.code, skipped.stdout],
      [0, 'skipped: its call in skips gives null\n'],
      skipped.stderr,
    );
    home.letGo('y');
    const { code, stdout } = await ended;
    assert.equal(code, 1);
    assert.match(stdout, /^Of 3 agents 1 failed and 1 skipped|^Of 3 agents 1 failed, 1 skipped/);
    const value = JSON.parse(stdout.slice(stdout.indexOf('\n\n')));
    assert.deepEqual([value.got, value.failures[0].skipped], [[null, 'y'], true]);
    const counts = { succeeded: 1, failed: 1, skipped: 1, reused: 0, running: 0 };
    assert.deepEqual((await home.show('skips')).counts, counts);
    const listed = await home.run(['workflow', 'list', '--runs']);
    assert.match(listed.stdout, /^[\da-f]{8} {2}skips {2}done; 1 succeeded, 1 failed, 1 skipped\n$/);
    const late = await home.run(['workflow', 'skip', 'agent-y']);
    assert.deepEqual([late.code, late.stderr.includes('has ended already')], [1, true], late.stderr);
  });

  it('get a message: all, or those of a phase', async () => {
    const home = await steeredHome();
    const body =
      "return parallel(['p', 'q'].map((n) => () => agent('listen enough', { label: n, phase: n })))";
    const { ended } = home.start(['workflow', 'run', home.script('told', body), '--yes']);
    await until(async () => (await home.show('told').catch(() => null))?.agents?.length === 2);
    const all = await home.run(['workflow', 'send', 'told', 'to all']);
    assert.match(all.stdout, /^sent to (p, q|q, p)\n$/, all.stderr);
    const one = await home.run(['workflow', 'send', 'told', '--phase', 'q', 'to q']);
    assert.deepEqual([one.code, one.stdout], [0, 'sent to q\n'], one.stderr);
    const nobody = await home.run(['workflow', 'send', 'told', '--phase', 'r', 'x']);
    assert.deepEqual([nobody.code, nobody.stderr.includes('in the phase "r" is at work')], [3, true]);
    await home.run(['workflow', 'send', 'told', 'enough']);
    const { code, stdout } = await ended;
    assert.deepEqual([code, JSON.parse(stdout)], [0, ['to all, enough', 'to all, to q, enough']]);
  });
});

it('saves the script of a run, and overwrites nothing silently', async () => {
  const home = await steeredHome();
  await home.run(['workflow', 'run', home.script('kept', "return agent('say kept')"), '--yes']);
  const save = (...more: string[]) => home.run(['workflow', 'save', 'kept', 'my-kept', ...more]);
  const path = join(home.work, '.coppice/workflows/my-kept.js');
  assert.equal((await save()).code, 0);
  assert.equal(readFileSync(path, 'utf8'), readFileSync(join(home.work, 'kept.js'), 'utf8'));
  assert.equal((await save()).code, 0, 'the same again');
  writeFileSync(path, '// mine');
  const refused = await save();
  assert.deepEqual([refused.code, refused.stderr.includes('is another script')], [1, true], refused.stderr);
  assert.equal(readFileSync(path, 'utf8'), '// mine');
  assert.equal((await save('--overwrite')).code, 0);
  const { stdout } = await home.run(['workflow', 'run', 'my-kept', '--yes']);
  assert.equal(stdout, 'kept\n');
  const odd = await home.run(['workflow', 'save', 'kept', '../out']);
  assert.equal(odd.code, 2);
});
