// Proves how many agents may be asked for at once: exactly as many as each limit of the tree still has room for, and not one more.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { exceededCreationLimit } from '../../../src/kernel/toolsets/acts/creation-limits.ts';
import type { ToolsetView } from '../../../src/kernel/toolsets/toolset.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../src/records/agent/limits.ts';
import { viewOf } from './toolset-view.ts';

const ROOM = { ...DEFAULT_LIMITS, depth: 9, children: 99, live: 99, total: 99 };

/** A view of a tree with five agents, three of them children of the caller of which one rests. */
function crowded(limits: Partial<Limits>): ToolsetView {
  const view = viewOf(undefined, {}, { living_children: 3, resting: () => 1 });
  return { ...view, tree: { ...view.tree, limits: { ...ROOM, ...limits }, live: 5, total: 5 } };
}

for (const [limit, most, present] of [
  ['children', 6, 2],
  ['live', 8, 4],
  ['total', 9, 5],
] as const)
  it(`as many are created at once as the limit "${limit}" has room for`, () => {
    const view = crowded({ [limit]: most });
    assert.equal(exceededCreationLimit(view, 4), null);
    const refusal = exceededCreationLimit(view, 5) ?? '';
    assert.match(
      refusal,
      new RegExp(`"${limit}" reached: ${present} of ${most} and 5 more .* at most 4 at once`),
    );
    assert.match(
      exceededCreationLimit(crowded({ [limit]: present })) ?? '',
      /reached: (.) of \1\. (?!Ask for)/,
    );
  });
