// Proves that the title of a tree is one line of visible characters, whatever its task begins with.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PlacedMessage } from '../../src/records/conversation/message.ts';
import { treeTitle } from '../../src/render/tree-title.ts';

function titleOf(text: string): string | null {
  const message: PlacedMessage = {
    agent_id: 'a',
    seq: 1,
    at: 0,
    kind: 'user',
    content: { origin: 'human', text },
  };
  return treeTitle([message]);
}

it('invisible characters are no title, and are left out of titles', () => {
  assert.equal(
    titleOf('\u3164\u115f\n\u2800 \u00ad\nThe\u00adtask\u202e\u2028 \u180eis\u001b[31m this'),
    'The task is this',
  );
  assert.equal(titleOf('\u3164'), null);
});
