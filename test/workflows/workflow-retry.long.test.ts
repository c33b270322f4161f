/** Proves that one agent of a run is run again, that its call then gets the new result, and that nothing happens where the script has gone on without it. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { closeOpened } from '../close-opened.ts';
import { until } from '../until.ts';
import { steeredHome } from './steered-run.ts';

type Rewound = DocumentOf<'coppice/rewind/v1'>;

after(closeOpened);

describe('running one agent of a workflow again', { concurrency: true }, () => {
  it('that has failed: the script gets the new result, and no failure is left', async () => {
    const home = await steeredHome();
    const body = "return Promise.all([agent('hold a'), agent('flaky b', { label: 'bee' })])";
    const { ended } = home.start(['workflow', 'run', home.script('two', body), '--yes']);
    await home.isHeld('a');
    await home.isHeld('b');
    assert.equal((await home.run(['workflow', 'pause', 'two'])).code, 0);
    home.letGo('a');
    home.letGo('b');
    assert.equal((await ended).code, 75);
    assert.equal((await home.show('two')).counts.failed, 1);
    const retried = await home.run(['workflow', 'retry', 'bee']);
    assert.equal(
      retried.stdout,
      'run again: two gets its new result, as soon as a process leads it\n',
      retried.stderr,
    );
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', 'two']);
    assert.deepEqual([code, stdout], [0, '["a","b"]\n'], stderr);
    assert.deepEqual(Object.fromEntries(home.asked), { 'hold a': 1, 'flaky b': 2 });
    const { counts } = await home.show('two');
    assert.deepEqual([counts.succeeded, counts.failed, counts.skipped], [2, 0, 0]);
    assert.deepEqual((await home.run(['workflow', 'rerun', 'two'])).stdout, '["a","b"]\n');
    assert.equal(home.total(), 3, 'run again as a whole, it takes the new result');
  });

  it('that has failed, in a tree that was taken back: its script knows it by the id that it had', async () => {
    const home = await steeredHome();
    const body = "return Promise.all([agent('hold d'), agent('flaky e', { label: 'eee' })])";
    const { ended } = home.start(['workflow', 'run', home.script('cut', body), '--yes']);
    await home.isHeld('d');
    await home.isHeld('e');
    assert.equal((await home.run(['workflow', 'pause', 'cut'])).code, 0);
    home.letGo('d');
    home.letGo('e');
    assert.equal((await ended).code, 75);
    const { root_id, agents } = (await home.json('rewind', 'cut', '--to', '0 seconds')) as Rewound;
    const again = agents.find(({ name }) => name === 'eee')?.id as string;
    assert.equal((await home.run(['workflow', 'retry', again])).code, 0);
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', root_id as string]);
    assert.deepEqual([code, stdout], [0, '["d","e"]\n'], stderr);
  });

  it('that is at work: it is broken off, and its successor works for the call, also after a kill -9', async () => {
    const home = await steeredHome();
    const body = "return [await agent('hold c', { label: 'sea' }), agent.failures().length]";
    const first = home.start(['workflow', 'run', home.script('one', body), '--yes']);
    await home.isHeld('c');
    const order = await home.json('workflow', 'retry', 'sea');
    assert.deepEqual([order.ordered, order.led], ['retry', true]);
    await until(() => home.asked.get('hold c') === 2, 'the second request');
    first.child.kill('SIGKILL');
    await first.ended;
    home.letGo('c');
    const { code, stdout, stderr } = await home.run(['workflow', 'resume', 'one']);
    assert.equal(home.asked.get('hold c'), 3, 'once by its successor, once more after the kill');
    assert.deepEqual([code, stdout], [0, '["c",0]\n'], stderr);
    const { stderr: finished } = await home.run(['workflow', 'retry', 'sea']);
    assert.match(finished, /makes its call anew: coppice workflow rerun \S+ --fresh sea\n/);
  });

  it('that the script has gone on without is refused, and says what helps', async () => {
    const home = await steeredHome();
    const body = "return [await agent('fail x', { label: 'ex' }), await agent('hold y')]";
    const { ended } = home.start(['workflow', 'run', home.script('gone', body), '--yes']);
    await home.isHeld('y');
    const refused = await home.run(['workflow', 'retry', 'ex']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /gone on without it[\s\S]*coppice workflow rerun/);
    home.letGo('y');
    assert.equal((await ended).code, 1);
    assert.match(
      (await home.run(['workflow', 'retry', 'gone'])).stderr,
      /no agent of a workflow called "gone"/,
    );
  });
});
