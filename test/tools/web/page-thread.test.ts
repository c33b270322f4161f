// Proves that a task on untrusted content gives its place back however it ends: given up, one that cannot be done, or done.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inThread, type PageJob } from '../../../src/tools/web/page-thread.ts';

const robots = (text: string): PageJob => ({
  ...{ type: 'robots', text: `User-agent: *\n${text}`, agent: 'coppice' },
  url: 'https://example.org/robots.txt',
});
const RULE = 'Disallow: /private\n';
const ROBOTS = robots(RULE);

it('rules of a site are read after others were given up and stopped, one at a time', async () => {
  const given_up = new Error('enough');
  for (const _ of 'ab') {
    const stop = new AbortController();
    const job = inThread(ROBOTS, 'tree', stop.signal);
    stop.abort(given_up);
    await assert.rejects(job, given_up);
  }
  const never = new AbortController().signal;
  // Work for longer than until the first look at it.
  const short = await inThread(robots(RULE.repeat(2_000_000)), 'tree', never, { seconds: 0, memory_mb: 512 });
  assert.deepEqual(short, { type: 'failed', why: 'it takes more than 0 s' });
  const all = ['one', 'other'].map((tree) => inThread(ROBOTS, tree, never));
  assert.deepEqual(
    (await Promise.all(all)).map(({ type }) => type),
    ['robots', 'robots'],
  );
});
