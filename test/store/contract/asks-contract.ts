import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Ask, AskAnswer, NewAsk } from '../../../src/records/conversation/ask.ts';
import type { CoppiceError } from '../../../src/records/coppice-error.ts';
import { findAsk, shortAskId } from '../../../src/store/approvals/find-ask.ts';
import { shownDigest, shownId } from '../../../src/store/approvals/shown-digest.ts';
import type { Store } from '../../../src/store/store.ts';
import { child, fresh, newAsk, newRoot, said, stepOf } from '../ledger-fixture.ts';

const ALLOW: AskAnswer = { verdict: 'allow', scope: 'once', note: '', by: 'you', at: 5_000 };

function askBy(agent: Agent, over: Partial<NewAsk> = {}): NewAsk {
  return newAsk({
    root_id: agent.root_id,
    agent_id: agent.id,
    agent_name: agent.name,
    subject: 'rm -rf "naïve 漢字 🎋" %_ $1',
    input: '{"command":"rm -rf \\"naïve\\""}',
    cwd: '/some where',
    rule: 'ask(bash:rm *)',
    asked_at: 1_000,
    ...over,
  });
}

const UNANSWERED = {
  verdict: null,
  scope: null,
  note: null,
  answered_by: null,
  answered_at: null,
  granted: null,
  revoked_at: null,
};

/** Part of the store contract: asks, and agents that people hide. */
export function asksContract(stores: () => { readonly store: Store; readonly other: Store }): void {
  const enter = async (agent: Agent, ...asks: readonly NewAsk[]): Promise<void> => {
    const { store } = stores();
    const [verdict] = await store.commit([
      stepOf(await fresh(store, agent), { asks, messages: [said('asked')] }),
    ]);
    assert.ok(verdict?.ok, JSON.stringify(verdict));
  };
  const verdictOf = async (id: string) => (await stores().other.findAsks(id))[0]?.verdict;

  it('an ask is stored with its step, unchanged; a refused step leaves none', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const [ask, stale] = [askBy(root, { difference: '@@ -1 +1 @@\n-naïve\n+漢字 🎋' }), askBy(root)];
    const verdicts = await store.commit([stepOf(root, { epoch: 0, asks: [stale] })]);
    assert.equal(verdicts[0]?.ok, false);
    await enter(root, ask);
    assert.deepEqual(await other.asks({ agent_id: root.id }), [{ ...ask, ...UNANSWERED }]);
    assert.deepEqual(await other.findAsks(stale.id), []);
  });

  it('an answer counts once and goes to the mailbox; the leader of the agent gets a signal', async () => {
    const { store, other } = stores();
    const worker = randomUUID();
    const root = await newRoot(store, {}, { worker });
    const ask = askBy(root);
    await enter(root, ask);
    const answer: AskAnswer = { ...ALLOW, verdict: 'deny', note: 'no, 漢字 🎋', by: 'somebody' };
    const first = await other.answer(ask.id, answer);
    assert.ok(first.ok);
    assert.deepEqual(await store.answer(ask.id, ALLOW), { ok: false });
    assert.deepEqual(await store.mail(root.id), [first.mail]);
    const { kind, from_id, from_name, sent_at, number, consumed_seq } = first.mail;
    assert.deepEqual(
      { kind, from_id, from_name, sent_at, number, consumed_seq },
      {
        kind: 'control',
        from_id: null,
        from_name: 'somebody',
        sent_at: 5_000,
        number: 1,
        consumed_seq: null,
      },
    );
    assert.deepEqual(JSON.parse(first.mail.body), {
      type: 'answer',
      ask_id: ask.id,
      verdict: 'deny',
      note: 'no, 漢字 🎋',
    });
    assert.deepEqual(await store.asks({ agent_id: root.id }), [
      {
        ...ask,
        ...UNANSWERED,
        verdict: 'deny',
        scope: 'once',
        note: 'no, 漢字 🎋',
        answered_by: 'somebody',
        answered_at: 5_000,
      },
    ]);
    assert.deepEqual(await store.signals(worker), [{ agent_id: root.id, kind: 'mail', about: null }]);
  });

  it('an answer names what was shown, or changes nothing: the digest, the id, or six characters of it', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const bare = askBy(root, { difference: '@@ -1 +1 @@\n-naïve\n+漢字 🎋' });
    const asks = Array.from({ length: 5 }, () => ({ ...bare, id: shownId({ ...bare, id: randomUUID() }) }));
    assert.equal(new Set(asks.map(({ id }) => id.slice(0, 6))).size, 5);
    await enter(root, ...asks);
    const kept = await other.asks({ agent_id: root.id, open: true });
    const [first, second, third, fourth, fifth] = kept as [Ask, Ask, Ask, Ask, Ask];
    // What came back from the database has the digest of what went in.
    for (const ask of kept) assert.equal(shownId(ask), ask.id);
    for (const shown of [
      ...['', first.id.slice(0, 5), second.id, second.id.slice(0, 8), `${first.id}0`],
      ...[shownDigest(second), shownDigest({ ...first, input: '{"command":"rm -rf /"}' })],
    ])
      assert.deepEqual(
        await other.answer(first.id, { ...ALLOW, shown }),
        { ok: false, changed: true },
        shown,
      );
    assert.equal(await verdictOf(first.id), null);
    assert.deepEqual(await store.mail(root.id), []);
    for (const [ask, shown] of [
      [first, shownDigest(first)],
      [second, second.id.slice(0, 6)],
      [third, third.id.slice(0, 20)],
      [fourth, undefined],
      [fifth, fifth.id],
    ] as const)
      assert.equal((await other.answer(ask.id, { ...ALLOW, shown })).ok, true, shown);
  });

  it('an id that meant a question stays its own: a later one that begins like it is not found by it', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const head = randomUUID().slice(0, 6);
    const asks = ['11', '22', '33'].map((more, index) =>
      askBy(root, { id: `${head}${more}-0000-4000-8000-00000000000${index}`, asked_at: index }),
    );
    const [denied, gone, open] = asks as [NewAsk, NewAsk, NewAsk];
    await enter(root, ...asks);
    const at = await store.now();
    await store.answer(denied.id, { ...ALLOW, verdict: 'deny', by: 'Ada', at });
    await store.commit([stepOf(await fresh(store, root), { at, void_asks: [gone.id] })]);
    const refused = (text: string, message: RegExp, hint: RegExp) =>
      assert.rejects(findAsk(other, text), (error: CoppiceError) => {
        assert.equal(error.code, 'E_ASK_ANSWERED');
        assert.match(error.message, message);
        assert.match(error.hint ?? '', hint);
        return true;
      });
    const look = new RegExp(`^Look at what waits.*\\n.*approvals show ${open.id} `);
    await refused(head, /withdrawn \d+s ago; nothing was answered$/, look);
    await refused(head.toUpperCase(), /withdrawn/, look);
    await refused(denied.id.slice(0, 8), /means .*rm -rf.*, which was denied by Ada \d+s ago/, /^See: /);
    await refused(gone.id, /which was withdrawn/, /^See: /);
    assert.equal((await findAsk(other, open.id.slice(0, 7))).id, open.id);
    assert.equal(await shortAskId(other, { ...(await findAsk(other, open.id)) }), open.id.slice(0, 8));
    await assert.rejects(findAsk(other, head.slice(0, 5)), /write at least 6 characters of its id/);
    const near = askBy(root, { id: `${head}33-0000-4000-8000-000000000009` });
    await enter(root, near);
    await assert.rejects(findAsk(other, `${head}33`), { code: 'E_ASK_NOT_FOUND', message: /matches 2/ });
    const listed = await shortAskId(other, await findAsk(other, open.id));
    assert.equal((await findAsk(other, listed)).id, open.id);
  });

  it('of concurrent answers, one wins', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const asks = Array.from({ length: 10 }, () => askBy(root));
    await enter(root, ...asks);
    for (const ask of asks) {
      const answers = await Promise.all(
        [store, other, store, other].map((one, index) =>
          one.answer(ask.id, { ...ALLOW, verdict: index % 2 === 0 ? 'allow' : 'deny', by: `by ${index}` }),
        ),
      );
      const [winner, ...more] = answers.filter((one) => one.ok);
      assert.ok(winner?.ok && more.length === 0);
      const [kept] = await other.findAsks(ask.id);
      assert.equal(kept?.answered_by, winner.mail.from_name);
      assert.equal(kept?.verdict, JSON.parse(winner.mail.body).verdict);
    }
    assert.equal((await store.mail(root.id)).length, asks.length);
  });

  it('an unknown or void ask cannot be answered', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const [gone, open, answered] = [askBy(root), askBy(root), askBy(root)];
    await enter(root, gone, open, answered);
    assert.equal((await store.answer(answered.id, ALLOW)).ok, true);
    const now = await fresh(store, root);
    await store.commit([stepOf(now, { at: 7_000, void_asks: [gone.id, answered.id, randomUUID()] })]);
    assert.deepEqual(await store.answer(gone.id, ALLOW), { ok: false });
    assert.deepEqual(await store.answer(randomUUID(), ALLOW), { ok: false });
    assert.deepEqual(
      (await store.asks({ agent_id: root.id })).map((ask) => [ask.id, ask.verdict, ask.answered_at]),
      [
        [gone.id, 'void', 7_000],
        [open.id, null, null],
        [answered.id, 'allow', 5_000],
      ],
    );
    assert.equal((await store.mail(root.id)).length, 1);
  });

  it('a kill voids the open asks of all killed agents and of no others', async () => {
    const { store } = stores();
    const root = await newRoot(store);
    const [parent, beside] = [await child(store, root), await child(store, root)];
    const below = await child(store, parent);
    const [answered, ...asks] = [parent, parent, below, beside, root].map((agent) => askBy(agent));
    for (const [index, agent] of [parent, parent, below, beside, root].entries())
      await enter(agent, [answered, ...asks][index] as NewAsk);
    assert.ok((await store.answer((answered as NewAsk).id, ALLOW)).ok);
    await store.kill(parent.id, 'you', 8_000);
    assert.equal(await verdictOf((answered as NewAsk).id), 'allow');
    assert.deepEqual(await Promise.all(asks.map((ask) => verdictOf(ask.id))), ['void', 'void', null, null]);
    assert.deepEqual(await store.answer((asks[1] as NewAsk).id, ALLOW), { ok: false });
    const now = await fresh(store, root);
    await store.commit([stepOf(now, { at: 9_000, kill: [beside.id] })]);
    assert.deepEqual(await Promise.all(asks.map((ask) => verdictOf(ask.id))), ['void', 'void', 'void', null]);
  });

  it('asks: oldest first, in order of insertion at equal times; by tree, by agent, only open ones', async () => {
    const { store, other } = stores();
    const [root, stranger] = [await newRoot(store), await newRoot(store)];
    const kid = await child(store, root);
    const asks = [
      askBy(root, { asked_at: 3_000 }),
      askBy(root, { asked_at: 1_000 }),
      askBy(root, { asked_at: 1_000 }),
      askBy(kid, { asked_at: 2_000 }),
      askBy(stranger, { asked_at: 500 }),
    ];
    await enter(root, ...asks.slice(0, 3));
    await enter(kid, asks[3] as NewAsk);
    await enter(stranger, asks[4] as NewAsk);
    await store.answer((asks[1] as NewAsk).id, ALLOW);
    const places = async (filter: Parameters<Store['asks']>[0]) =>
      (await other.asks(filter)).map((ask) => asks.findIndex((one) => one.id === ask.id));
    assert.deepEqual(await places({ root_id: root.id }), [1, 2, 3, 0]);
    assert.deepEqual(await places({ root_id: root.id, open: true }), [2, 3, 0]);
    assert.deepEqual(await places({ agent_id: root.id }), [1, 2, 0]);
    assert.deepEqual(await places({ agent_id: kid.id, open: true }), [3]);
    assert.deepEqual(await places({ root_id: stranger.id, agent_id: kid.id }), []);
    const all = (await places({ open: true })).filter((place) => place >= 0);
    assert.deepEqual(all, [4, 2, 3, 0]);
  });

  it('finds asks by id and prefix of at least four characters; no character is a wildcard', async () => {
    const { store, other } = stores();
    const root = await newRoot(store);
    const head = randomUUID().slice(0, 8);
    const [one, two] = ['1', '2'].map((tail) =>
      askBy(root, { id: `${head}-0000-4000-8000-00000000000${tail}`, asked_at: Number(tail) }),
    ) as [NewAsk, NewAsk];
    await enter(root, one, two);
    const found = async (text: string) => (await other.findAsks(text)).map((ask) => ask.id);
    assert.deepEqual(await found(one.id), [one.id]);
    assert.deepEqual(await found(two.id.slice(0, -1)), [two.id, one.id]);
    assert.deepEqual(await found(head.toUpperCase()), [two.id, one.id]);
    for (const text of [head.slice(0, 3), '', '%', '____', '%%%%', 'zzzz', "'; DROP TABLE asks; --"])
      assert.deepEqual(await found(text), [], text);
  });

  it('reap hides the ended agents of one tree, never its root, each once; they stay in the ledger', async () => {
    const { store, other } = stores();
    const [root, stranger] = [await newRoot(store), await newRoot(store)];
    const ended = { state: { type: 'completed', result: 'r' } } as const;
    const kids: Agent[] = [];
    for (let index = 0; index < 5; index += 1) kids.push(await child(store, root));
    const [done, failed, killed, resting, working] = kids as [Agent, Agent, Agent, Agent, Agent];
    const foreign = await child(store, stranger);
    const failure = { kind: 'network', error: 'gone', retryable: true } as const;
    await store.commit([
      stepOf(done, ended),
      stepOf(failed, { state: { type: 'failed', failure } }),
      stepOf(resting, { state: { type: 'idle' } }),
      stepOf(foreign, ended),
    ]);
    const below = await child(store, killed);
    await store.kill(killed.id, 'you', 3_000);
    assert.deepEqual(
      (await store.reap(root.id, 4_000)).toSorted(),
      [done, failed, killed, below].map((agent) => agent.id).toSorted(),
    );
    assert.deepEqual(await other.reap(root.id, 5_000), []);
    const at = async (agent: Agent) => (await other.agent(agent.id))?.reaped_at;
    assert.deepEqual(
      await Promise.all([done, failed, killed, below, resting, working, root, foreign].map(at)),
      [4_000, 4_000, 4_000, 4_000, null, null, null, null],
    );
    await store.kill(root.id, 'you', 6_000);
    assert.deepEqual((await store.reap(root.id, 7_000)).toSorted(), [resting.id, working.id].toSorted());
    assert.equal(await at(root), null);
    assert.equal(await at(done), 4_000);
    assert.notDeepEqual(await other.history(done.id), []);
  });
}
