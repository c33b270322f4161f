/** Proves that pages made to be costly are stopped in their own thread: the process continues meanwhile, and the result says what happened. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPage } from '../../../src/tools/web/page-text.ts';
import { inThread, type PageJob } from '../../../src/tools/web/page-thread.ts';

const never = new AbortController().signal;
const page = (html: string): PageJob => ({
  type: 'page',
  bytes: Buffer.from(html),
  content_type: 'text/html',
  url: 'https://example.com/',
  whole: false,
});

/** Measures the longest time for which the event loop was blocked during `work`. */
async function stillness<Result>(work: Promise<Result>): Promise<{ result: Result; longest_ms: number }> {
  let longest_ms = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    longest_ms = Math.max(longest_ms, performance.now() - last);
    last = performance.now();
  }, 5);
  const result = await work.finally(() => clearInterval(beat));
  return { result, longest_ms };
}

describe('a page', () => {
  it('of 100,000 nested tags is read as plain text', async () => {
    const result = await inThread(
      page(`${'<div>'.repeat(100_000)}deep &amp; <b>d&#111;wn</b><script>x</script>`),
      'tree',
      never,
    );
    assert.ok(result.type === 'text', JSON.stringify(result).slice(0, 300));
    assert.match(result.text, /^deep & down$/);
    assert.match(result.note ?? '', /nested too deeply/);
  });

  it('that takes too long is given up, while everything else goes on', async () => {
    const html = `<table><tr><td>${'<p>Some words, and more of them, in a paragraph.</p>'.repeat(90_000)}`;
    const started = performance.now();
    const { result, longest_ms } = await stillness(
      inThread(page(html), 'tree', never, { seconds: 0.3, memory_mb: 512 }),
    );
    assert.deepEqual(result, { type: 'failed', why: 'it takes more than 0.3 s' });
    assert.ok(longest_ms < (performance.now() - started) / 2, `${longest_ms} ms`);
  });

  it('that takes too much memory is given up', async () => {
    const html = '<p>Some <b>words</b>, and more of them, in a paragraph.</p>'.repeat(80_000);
    assert.deepEqual(await inThread(page(html), 'tree', never, { seconds: 60, memory_mb: 24 }), {
      type: 'failed',
      why: 'it takes more than 24 MB',
    });
  });

  it('is given up with its call, also while it waits for others', async () => {
    const slow = page('<p>Some words, and more of them, in a paragraph.</p>'.repeat(90_000));
    const stop = new AbortController();
    const all = Array.from({ length: 5 }, () => inThread(slow, 'tree', stop.signal));
    setTimeout(() => stop.abort(new Error('enough')), 100);
    for (const one of await Promise.allSettled(all))
      assert.equal(one.status === 'rejected' && (one.reason as Error).message, 'enough');
  });

  it('of broken markup is read', async () => {
    const broken = [
      '',
      '<',
      '<!--',
      '<![CDATA[',
      '</body></html>',
      '<html><frameset>',
      '<title>',
      '<svg><style>',
      '&#xFFFFFF;&#0;',
      '<p '.repeat(2000),
    ];
    for (const html of [...broken, broken.join('')]) {
      const { type } = await readPage(page(html));
      assert.equal(type, 'text', html.slice(0, 20));
    }
  });
});

it('robots.txt of costly patterns is judged there, too', async () => {
  const text = `User-agent: *\n${`Disallow: /${'*a'.repeat(500)}$\n`.repeat(400)}`;
  const url = `https://example.com/${'a'.repeat(2000)}b`;
  const result = await inThread({ type: 'robots', text, url, agent: 'Coppice' }, 'tree', never, {
    seconds: 60,
    memory_mb: 512,
  });
  assert.notEqual(result.type, 'text');
});
