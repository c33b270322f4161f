// Proves which question a typed beginning of an id means: in either case, from six characters on, and never one that is not the only one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Ask } from '../../src/records/conversation/ask.ts';
import { findAsk, shortAskId } from '../../src/store/approvals/find-ask.ts';

const IDS = ['abcdef01-0000-4000-8000-000000000001', 'abcdef02-0000-4000-8000-000000000002'];
const store = {
  now: async () => 0,
  findAsks: async (beginning: string) =>
    IDS.filter((id) => id.startsWith(beginning)).map(
      (id) => ({ id, verdict: null, agent_name: 'a', tool: 'bash', subject: 'ls' }) as unknown as Ask,
    ),
};

it('an id is typed in either case', async () => {
  for (const typed of ['abcdef02', 'ABCDEF02', IDS[1] ?? '', (IDS[1] ?? '').toUpperCase()])
    assert.equal((await findAsk(store, typed)).id, IDS[1], typed);
});

it('a beginning that two have, or that is too short, names none', async () => {
  await assert.rejects(findAsk(store, 'ABCDEF0'), /"ABCDEF0" matches 2 approvals/);
  await assert.rejects(findAsk(store, 'abcde'), /at least 6 characters/);
  assert.equal(await shortAskId(store, { id: IDS[0] } as Ask), 'abcdef01');
});
