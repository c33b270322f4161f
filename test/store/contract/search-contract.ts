import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Message } from '../../../src/records/conversation/message.ts';
import { searchPhrases } from '../../../src/records/text/search-words.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, newRoot, said, stepOf } from '../ledger-fixture.ts';
import { ENDED, oldTree, TERMS } from '../retention-fixture.ts';

const LONG_MS = 60_000;

/** Part of the store contract: full text of all conversations, indexed by whoever searches. */
export function searchContract(
  stores: () => {
    readonly store: Store;
    readonly other: Store;
    readonly execute: (sql: string) => Promise<void>;
  },
): void {
  const found = async (query: string, before?: string, limit = 10) => {
    const { other } = stores();
    assert.equal(await other.indexMessages(LONG_MS), true);
    return other.search(searchPhrases(query), before, limit);
  };
  const texts = async (query: string) => (await found(query)).map(({ text }) => text);
  const says = async (agent: Agent, at: number, ...messages: Message[]) => {
    const { store } = stores();
    await store.commit([stepOf(await fresh(store, agent), { at, messages })]);
  };

  it('a search finds what was written until now, by words, phrases and their beginnings, newest first', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    await says(
      root,
      5_000,
      said('Größe zebra in src/Db.ts 木星'),
      said('plain zebra, "quoted" \'"*() & | !'),
    );
    assert.deepEqual(await texts('zebra'), [
      'plain zebra, "quoted" \'"*() & | !',
      'Größe zebra in src/Db.ts 木星',
    ]);
    for (const query of ['GRÖßE zebra', 'große zeb', '"in src"', 'src/db.ts', '木', '星 zebra', '"zebra in'])
      assert.deepEqual(await texts(query), ['Größe zebra in src/Db.ts 木星'], query);
    for (const query of ['"src zebra"', 'zebras', 'db.tsx', 'zebra AND', 'zebra OR giraffe'])
      assert.deepEqual(await texts(query), [], query);
    const call = { type: 'call', id: 'c', name: 'bash', input: '{"command":"okapi --all"}' } as const;
    const content = { model: 'm', parts: [{ type: 'text', text: 'I say okapi' }, call] } as const;
    await says(
      root,
      6_000,
      { kind: 'assistant', content },
      { kind: 'result', content: { call_id: 'c', name: 'bash', status: 'ok', output: 'an okapi was seen' } },
      { kind: 'event', content: { event: 'notice', text: 'okapi noticed' } },
    );
    assert.deepEqual(await texts('okapi'), [
      'okapi noticed',
      'an okapi was seen',
      'I say okapi\nbash {"command":"okapi --all"}',
    ]);
  });

  it('a search is read in pages, each message once and with its place, also of children', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const kid = await child(store, await fresh(store, root));
    await says(root, 7_000, said('walrus 1'), said('walrus 2'));
    await says(kid, 7_000, said('walrus 3'));
    await says(root, 8_000, said('walrus 4'));
    const all = await found('walrus');
    assert.deepEqual([all.length, all[0]?.text], [4, 'walrus 4']);
    assert.deepEqual(new Set(all.map(({ root_id }) => root_id)), new Set([root.id]));
    const pages: string[] = [];
    for (let before: string | undefined; ; ) {
      const [one] = await found('walrus', before, 1);
      if (one === undefined) break;
      const { at, agent_id, seq } = one.message;
      before = `${new Date(at).toISOString()},${agent_id}:${seq}`;
      assert.equal((await store.history(agent_id, seq - 1, 1))[0]?.agent_id, agent_id);
      pages.push(one.text);
    }
    assert.deepEqual(
      pages,
      all.map(({ text }) => text),
    );
  });

  it('the index of a conversation goes with it', async () => {
    const { store } = stores();
    const root = await oldTree(store, ENDED, { messages: [said('aardvark')] });
    assert.deepEqual(await texts('aardvark'), ['aardvark']);
    assert.deepEqual(await store.closeTrees([root.id], TERMS), [root.id]);
    while (!(await store.removeTreeRows(root.id, 1_000, false)).done);
    assert.deepEqual(await texts('aardvark'), []);
    // Nothing of it is left where nobody looks, either.
    const left = `(SELECT count(*) FROM search_words WHERE ${store.kind === 'sqlite' ? "search_words MATCH 'aardvark'" : "words @@ 'aardvark'"})`;
    const gone = `(SELECT count(*) FROM search_places WHERE agent_id = '${root.id}')`;
    await stores().execute(
      `CREATE TABLE searched (left_over bigint CHECK (left_over = 0)); INSERT INTO searched SELECT ${left} + ${gone}; DROP TABLE searched`,
    );
  });
}
