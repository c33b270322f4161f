// Proves that the limits of an MCP server are those of a time span, not of its life: one that lives long is not cut off, and each new flood is.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FloodWatch, LimitExceeded } from '../../../src/tools/mcp-servers/wire/flood-watch.ts';

for (const [what, messages, bytes] of [
  ['messages', 10_000, 0],
  ['bytes', 0, 256 * 1024 * 1024],
] as const)
  it(`as many ${what} as allowed in each span are never a flood, one more in a span always is`, () => {
    let now = 0;
    const watch = new FloodWatch(() => now);
    for (let half = 0; half < 12; half += 1, now += 5_000)
      assert.doesNotThrow(() => watch.add(messages / 2, bytes / 2));
    for (let flood = 0; flood < 2; flood += 1, now += 10_000) {
      // The first two may still belong to a span that began before.
      assert.throws(() => {
        for (let time = 0; time < 4; time += 1) watch.add(messages, bytes);
      }, LimitExceeded);
      now += 4_999;
      assert.throws(() => watch.add(1, 1), LimitExceeded, 'it stays one as long as the span lasts');
    }
    watch.add(1, 1);
  });

it('a flood in the first span is one', () => {
  const watch = new FloodWatch(() => 0);
  watch.add(10_000, 1);
  assert.throws(() => watch.add(1, 1), LimitExceeded);
});
