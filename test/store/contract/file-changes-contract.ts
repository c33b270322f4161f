import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Message } from '../../../src/records/conversation/message.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, newRoot, said, stepOf } from '../ledger-fixture.ts';

/** Part of the store contract: the calls that changed files, by file and by tree. */
export function fileChangesContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  it('the files that a tree changed are found with the calls and answers, newest first', async () => {
    const { store, other } = stores();
    const write = (path: string, before?: string): readonly Message[] => {
      const part = { type: 'call', id: `c ${path}`, name: 'write', input: '{"content":"x"}' } as const;
      const file = { path, hash: 'h', ...(before === undefined ? { before: null } : { before }) };
      return [
        { kind: 'assistant', content: { model: 'm', parts: [part] } },
        { kind: 'result', content: { call_id: part.id, name: 'write', status: 'ok', output: 'done', file } },
      ];
    };
    const does = async (agent: Agent, at: number, messages: readonly Message[]) => {
      await store.commit([stepOf(await fresh(store, agent), { at, messages })]);
    };
    const [root, stranger] = [await newRoot(store), await newRoot(store)];
    const kid = await child(store, await fresh(store, root));
    const path = `/tmp/${root.id}`;
    await does(root, 5_000, write(path));
    await does(kid, 6_000, [...write(`${path} 2`), said('done')]);
    await does(stranger, 7_000, write(path, 'h'));
    const of = (changes: Awaited<ReturnType<Store['treeChanges']>>) =>
      changes.map(({ agent_id, result, answer }) => [agent_id, result.file.path, answer?.parts.length]);
    assert.deepEqual(of(await other.treeChanges(root.id, 10)), [
      [kid.id, `${path} 2`, 1],
      [root.id, path, 1],
    ]);
    assert.deepEqual(of(await other.treeChanges(root.id, 1)), [[kid.id, `${path} 2`, 1]]);
    assert.deepEqual(of(await other.fileChanges(path, 10)), [
      [stranger.id, path, 1],
      [root.id, path, 1],
    ]);
  });
}
