/** Proves that the end of a wait on many agents stays short, and hides none in which something failed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WaitRow } from '../../../src/records/conversation/facts/wait-row.ts';
import { WAIT_ROWS_MAX, waitRows } from '../../../src/tui/views/transcript/wait-rows.ts';
import { PLAIN } from '../ui-fixture.ts';

const rows = (failed: readonly number[], count: number): readonly WaitRow[] =>
  Array.from({ length: count }, (_, index) => ({
    agent_id: `a${index}`,
    name: `part-${index}`,
    ...(failed.includes(index)
      ? { status: 'idle' as const, error: 'the key is refused' }
      : { status: 'received' as const, message: 'found it' }),
  }));

it('many agents have some rows, and all that failed have one', () => {
  const draw = (failed: readonly number[], count: number, most?: number) =>
    waitRows({ rows: rows(failed, count), cut: null }, 60, PLAIN, most);
  assert.equal(draw([], WAIT_ROWS_MAX, WAIT_ROWS_MAX).length, WAIT_ROWS_MAX);
  assert.equal(draw([], 60).length, 60);
  const capped = draw([3, 58], 60, WAIT_ROWS_MAX);
  assert.equal(capped.length, WAIT_ROWS_MAX);
  assert.equal(capped.filter((row) => row.includes('the key is refused')).length, 2);
  assert.equal(capped.at(-1), '  … +41 agents');
  const failed = Array.from({ length: 30 }, (_, index) => index);
  assert.equal(draw(failed, 60, WAIT_ROWS_MAX).length, 31);
});
