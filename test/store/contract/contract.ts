import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../../../src/kernel/step.ts';
import { newTurn } from '../../../src/records/agent/state.ts';
import type { Store } from '../../../src/store/store.ts';
import { answer, child, fresh, letter, newAgent, newRoot, said, stepOf } from '../ledger-fixture.ts';
import { asksContract } from './asks-contract.ts';
import { cronContract } from './cron-contract.ts';
import { fileChangesContract } from './file-changes-contract.ts';
import { groupCommitContract } from './group-commit-contract.ts';
import { idempotenceContract } from './idempotence-contract.ts';
import { instructionsContract } from './instructions-contract.ts';
import { keyContract } from './key-contract.ts';
import { letterContract } from './letter-contract.ts';
import { listPlaceContract } from './list-place-contract.ts';
import { mailBatchContract } from './mail-batch-contract.ts';
import { oldEntriesContract } from './old-entries-contract.ts';
import { outboxContract } from './outbox-contract.ts';
import { parkedContract } from './parked-contract.ts';
import { removalContract } from './removal-contract.ts';
import { retentionContract } from './retention-contract.ts';
import { runHistoryContract } from './run-history-contract.ts';
import { searchContract } from './search-contract.ts';
import { tasksContract } from './tasks-contract.ts';
import { unledContract } from './unled-contract.ts';
import { usageContract } from './usage-contract.ts';
import { workersContract } from './workers-contract.ts';

export interface LedgerUnderTest {
  /** Opens another connection to the same database. */
  open(options?: { readonly notifications?: boolean }): Promise<Store>;
  /** Executes plain SQL on a separate connection, bypassing the store. */
  execute(sql: string): Promise<void>;
  close(): Promise<void>;
}

function refusal(verdict: Verdict | undefined): string {
  return verdict === undefined || verdict.ok ? 'accepted' : verdict.refusal.reason;
}

/** The store contract: one suite for every adapter. */
export function storeContract(name: string, start: () => Promise<LedgerUnderTest>): void {
  describe(`ledger contract: ${name}`, () => {
    let ledger: LedgerUnderTest;
    let store: Store;
    let other: Store;
    before(async () => {
      ledger = await start();
      store = await ledger.open();
      other = await ledger.open();
    });
    after(async () => {
      await store.close();
      await other.close();
      await ledger.close();
    });

    it('a step may change the configuration; otherwise it stays unchanged', async () => {
      const now = await newRoot(store);
      const config = { ...now.config, model: 'other/漢 "model" \\ 🎋' };
      await store.commit([stepOf(now, { messages: [said('one')], config })]);
      assert.deepEqual((await fresh(other, now)).config, config);
      await store.commit([stepOf(await fresh(store, now), { messages: [said('two')] })]);
      assert.deepEqual((await fresh(other, now)).config, config);
    });

    it('stores an agent, its tree and its history unchanged', async () => {
      const text = 'naïve 漢字 🎋 \u{1f468}\u200d\u{1f469} שלום\n\t"quoted" \\ %_ $1';
      const root = newAgent(null, { name: text }, [said(text), said('x'.repeat(1_000_000))]);
      const limits = {
        depth: 1,
        children: 2,
        live: 3,
        total: 4,
        turns: 5,
        run_ms: 6,
        tokens: 7,
        cost_usd: 0.5,
      };
      await store.createRoot(root, limits);
      const agent = await other.agent(root.agent.id);
      assert.equal(agent?.name, text);
      assert.deepEqual(agent?.state, root.agent.state);
      assert.deepEqual(agent?.config, root.agent.config);
      assert.equal(agent?.epoch, 1);
      const history = await other.history(root.agent.id);
      assert.deepEqual(
        history.map((message) => message.content),
        root.messages.map((message) => message.content),
      );
      assert.deepEqual((await other.tree(root.agent.id))?.limits, limits);
    });

    it('law 8: a stale epoch or a stale seq changes nothing, and does not affect other steps', async () => {
      const a = await newRoot(store);
      const b = await newRoot(store);
      const verdicts = await store.commit([
        stepOf(a, { epoch: 0, messages: [said('stale')] }),
        stepOf(b, { messages: [said('good')] }),
        stepOf(a, { base_seq: 9, messages: [said('stale')] }),
        stepOf(a, { messages: [said('good')] }),
        stepOf(a, { messages: [said('second at the same place')] }),
      ]);
      assert.deepEqual(verdicts.map(refusal), ['stale', 'accepted', 'stale', 'accepted', 'stale']);
      assert.equal((await store.history(a.id)).length, 2);
      assert.equal((await store.history(b.id)).length, 2);
    });

    it('a step that is applied again is stale, also one without messages', async () => {
      const root = await newRoot(store, { total: 2 });
      const helper = newAgent(root);
      const creates = stepOf(root, { create: [helper] });
      const sends = stepOf(root, { send: [letter(root, root)] });
      assert.deepEqual((await store.commit([creates, sends])).map(refusal), ['accepted', 'accepted']);
      // `stale` rather than `limit`, although the first commit has filled the tree.
      assert.deepEqual((await store.commit([creates, sends])).map(refusal), ['stale', 'stale']);
      assert.equal((await store.mail(root.id, true)).length, 1);
      assert.equal((await store.tree(root.id))?.total, 2);
    });

    it('law 11: messages of an agent are numbered without gaps, across steps and forks', async () => {
      const root = await newRoot(store);
      await store.commit([stepOf(root, { messages: [said('2'), said('3')] })]);
      await store.commit([stepOf(await fresh(store, root), { messages: [said('4')] })]);
      const fork = await child(store, root, { forked_from: { agent_id: root.id, seq: 3 } });
      const grandchild = await child(store, fork, { forked_from: { agent_id: fork.id, seq: 4 } });
      await store.commit([stepOf(await fresh(store, grandchild), { messages: [said('6')] })]);
      await store.commit([stepOf(await fresh(store, root), { messages: [said('later, not for children')] })]);
      const history = await store.history(grandchild.id);
      assert.deepEqual(
        history.map((message) => message.seq),
        [1, 2, 3, 4, 5, 6],
      );
      assert.deepEqual(
        history.map((message) => message.agent_id),
        [root.id, root.id, root.id, fork.id, grandchild.id, grandchild.id],
      );
      assert.deepEqual(
        (await store.history(grandchild.id, 3, 2)).map((message) => message.seq),
        [4, 5],
      );
      assert.deepEqual(
        (await store.history(grandchild.id, 2, 1)).map((message) => message.seq),
        [3],
      );
    });

    it('a fork below an earlier fork sees only what precedes both fork points', async () => {
      const root = await newRoot(store);
      await store.commit([stepOf(root, { messages: [said('2'), said('3')] })]);
      const fork = await child(store, root, { forked_from: { agent_id: root.id, seq: 3 } });
      const early = await child(store, fork, { forked_from: { agent_id: fork.id, seq: 2 } });
      assert.deepEqual(
        (await store.history(early.id)).map(({ agent_id, seq }) => [agent_id, seq]),
        [
          [root.id, 1],
          [root.id, 2],
          [early.id, 3],
        ],
      );
    });

    it('law 7: each limit admits exactly what it allows', async () => {
      const cases = [
        [{ depth: 1 }, 'depth'],
        [{ children: 1 }, 'children'],
        [{ live: 2 }, 'live'],
        [{ total: 2 }, 'total'],
      ] as const;
      for (const [limits, limit] of cases) {
        const root = await newRoot(store, limits);
        const first = await child(store, root);
        const from = limit === 'depth' ? first : await fresh(store, root);
        const [verdict] = await store.commit([stepOf(from, { create: [newAgent(from)] })]);
        assert.ok(verdict?.ok === false && verdict.refusal.reason === 'limit');
        assert.equal(verdict.refusal.limit, limit);
        assert.equal((await store.agents({ root_id: root.id })).length, 2);
      }
    });

    it('law 7: agents at rest do not count, unless waking mail waits for them; all count towards the total', async () => {
      for (const [limits, total] of [
        [{ children: 2 }, 256],
        [{ live: 3 }, 256],
        [{ total: 5 }, 5],
      ] as const) {
        const root = await newRoot(store, limits);
        const rest = async (kid: typeof root, type: 'idle' | 'errored') => {
          const failure = { kind: 'network', error: 'gone', retryable: true } as const;
          const state = type === 'idle' ? ({ type } as const) : ({ type, failure } as const);
          await store.commit([stepOf(await fresh(store, kid), { state, messages: [said('rests')] })]);
        };
        const full = async () => {
          const now = await fresh(store, root);
          return refusal((await store.commit([stepOf(now, { create: [newAgent(now)] })]))[0]);
        };
        const [a, b] = [await child(store, root), await child(store, root)];
        await rest(a, 'idle');
        await rest(b, 'errored');
        const [c, d] = [await child(store, root), await child(store, root)];
        assert.equal(await full(), 'limit');
        await rest(c, 'idle');
        await rest(d, 'idle');
        // An outcome does not wake an agent; a letter does, until it is read or the agent was notified of it.
        await store.send({ ...letter(root, c), kind: 'outcome' });
        for (const kid of [c, d]) await store.send(letter(root, kid));
        assert.equal(await full(), 'limit');
        assert.deepEqual([(await fresh(store, a)).unread, (await fresh(store, c)).unread], [undefined, true]);
        await store.commit([stepOf(await fresh(store, c), { noticed: 2 })]);
        const [left] = await store.mail(d.id);
        assert.ok(left !== undefined);
        const consume = [{ mail_id: left.id, seq: d.last_seq + 2 }];
        await store.commit([stepOf(await fresh(store, d), { messages: [said('reads')], consume })]);
        assert.equal(await full(), total === 5 ? 'limit' : 'accepted');
      }
    });

    it('law 7: two processes that create agents at once together get exactly the allowed number', async () => {
      const root = await newRoot(store, { children: 1000, live: 11, total: 11 });
      const parents = [await child(store, root), await child(store, root)];
      const created = await Promise.all(
        parents.map(async (parent, index) => {
          const own = index === 0 ? store : other;
          let accepted = 0;
          for (let round = 0; round < 10; round += 1) {
            const now = await fresh(own, parent);
            const [verdict] = await own.commit([stepOf(now, { create: [newAgent(now)] })]);
            if (verdict?.ok) accepted += 1;
          }
          return accepted;
        }),
      );
      assert.equal(
        created.reduce((a, b) => a + b),
        8,
      );
      assert.equal((await store.tree(root.id))?.live, 11);
    });

    it('a thousand children in one step, and a thousand steps in one commit', async () => {
      const root = await newRoot(store, { children: 1000, live: 2000, total: 2000 });
      const children = Array.from({ length: 1000 }, () =>
        newAgent(root, { forked_from: { agent_id: root.id, seq: 1 } }),
      );
      const [verdict] = await store.commit([stepOf(root, { create: children })]);
      assert.equal(refusal(verdict), 'accepted');
      const agents = await store.agents({ parent_id: root.id });
      assert.equal(agents.length, 1000);
      const verdicts = await store.commit(
        agents.map((agent) => stepOf(agent, { send: [letter(agent, root)], state: { type: 'idle' } })),
      );
      assert.ok(verdicts.every((one) => one.ok));
      assert.deepEqual(
        (await store.mail(root.id)).map((mail) => mail.number),
        Array.from({ length: 1000 }, (_, index) => index + 1),
      );
    });

    it('law 6: a letter is consumed once, by its recipient, with the step that carries it', async () => {
      const root = await newRoot(store);
      const kid = await child(store, root);
      const mail = [letter(kid, root, 'one'), letter(kid, root, 'two')];
      const [sent] = await store.commit([stepOf(await fresh(store, kid), { send: mail })]);
      assert.ok(sent?.ok);
      assert.deepEqual(
        sent.sent.map((one) => one.number),
        [1, 2],
      );
      const consume = [{ mail_id: (mail[0] as { id: string }).id, seq: 2 }];
      const now = await fresh(store, root);
      const foreign = await store.commit([stepOf(await fresh(store, kid), { consume })]);
      assert.equal(refusal(foreign[0]), 'consumed');
      const first = await store.commit([stepOf(now, { messages: [said('carries it')], consume })]);
      assert.equal(refusal(first[0]), 'accepted');
      const second = await store.commit([
        stepOf(await fresh(store, root), { messages: [said('again')], consume }),
      ]);
      assert.equal(refusal(second[0]), 'consumed');
      assert.deepEqual(
        (await store.mail(root.id)).map((one) => one.body),
        ['two'],
      );
      assert.deepEqual(
        (await store.mail(root.id, true)).map((one) => one.consumed_seq),
        [2, null],
      );
      assert.equal((await fresh(store, root)).last_seq, 2);
    });

    it('mail to ended or unknown agents and to other trees is refused', async () => {
      const root = await newRoot(store);
      const dead = await child(store, root);
      const stranger = await newRoot(store);
      await store.kill(dead.id, 'you', 1);
      const step = async (mail: ReturnType<typeof letter>) =>
        (await store.commit([stepOf(await fresh(store, root), { send: [mail] })]))[0];
      for (const [mail, found] of [
        [letter(root, dead), 'dead'],
        [letter(root, stranger), 'unknown'],
        [{ ...letter(root, root), to_id: randomUUID() }, 'unknown'],
      ] as const) {
        const verdict = await step(mail);
        assert.ok(verdict?.ok === false && verdict.refusal.reason === 'recipient');
        assert.equal(verdict.refusal.found, found);
      }
      const human = { ...letter(root, dead), from_id: null };
      assert.equal((await store.send(human)).ok, false);
      assert.equal((await store.send({ ...human, to_id: stranger.id, root_id: stranger.id })).ok, true);
    });

    it('law 9: a kill ends all living descendants in one transaction, signals waiters, keeps their mail', async () => {
      const root = await newRoot(store);
      const a = await child(store, root, { name: 'a' });
      const b = await child(store, a, { name: 'b' });
      const c = await child(store, b, { name: 'c' });
      const sibling = await child(store, root, { name: 'sibling' });
      await store.commit([stepOf(await fresh(store, root), { send: [letter(root, b)] })]);
      await store.commit([stepOf(await fresh(store, b), { waits_for: [sibling.id] })]);
      const [verdict] = await store.commit([
        stepOf(await fresh(store, root), { messages: [said('kills')], kill: [a.id] }),
      ]);
      assert.ok(verdict?.ok);
      assert.deepEqual(verdict.killed.toSorted(), [a.id, b.id, c.id].toSorted());
      for (const id of [a.id, b.id, c.id]) {
        const agent = await store.agent(id);
        assert.equal(agent?.state.type, 'killed');
        assert.equal(agent?.epoch, 2);
        assert.notEqual(agent?.ended_at, null);
        const last = (await store.history(id)).at(-1);
        assert.equal(last?.kind, 'event');
        assert.match(JSON.stringify(last?.content), /a by agent, 2 descendants/);
        const [late] = await store.commit([
          stepOf({ ...(agent as NonNullable<typeof agent>), epoch: 1 }, { messages: [said('late')] }),
        ]);
        assert.equal(refusal(late), 'stale');
      }
      assert.equal((await store.tree(root.id))?.live, 2);
      assert.deepEqual(await store.waiters(sibling.id), []);
      assert.equal((await store.mail(b.id)).length, 1);
      assert.deepEqual((await store.kill(a.id, 'you', 2)).ids, []);
      const again = await child(store, root);
      assert.equal((await fresh(store, again)).state.type, 'requesting');
    });

    it('an awaited child that is killed reports to its parent', async () => {
      const root = await newRoot(store);
      const turn = { ...newTurn(2_000), deeds: { calls: { bash: { made: 3, failed: 1 } }, tokens: 70 } };
      const spawned = await child(store, root, {
        origin: 'spawn',
        state: { type: 'requesting', attempt: 1, turn },
      });
      for (const text of ['one', 'two'])
        await store.commit([stepOf(await fresh(store, spawned), { messages: [answer(text)] })]);
      await store.kill(spawned.id, 'you', 5_000);
      assert.deepEqual((await other.agent(spawned.id))?.state, {
        type: 'killed',
        by: 'you',
        deeds: { ...turn.deeds, took_ms: 3_000 },
      });
      const [mail] = await store.mail(root.id);
      assert.equal(mail?.kind, 'outcome');
      assert.deepEqual(JSON.parse(mail?.body ?? ''), {
        agent_id: spawned.id,
        outcome: { type: 'failure', error: 'Killed by you', error_kind: 'killed', partial: 'one\n\ntwo' },
        did: '3 tool calls, 1 failed (bash 3); 3 s; 70 tokens',
      });
    });

    it('only descendants can be killed by a step', async () => {
      const root = await newRoot(store);
      const a = await child(store, root);
      const b = await child(store, root);
      for (const target of [root.id, b.id, a.id, randomUUID()]) {
        const [verdict] = await store.commit([stepOf(await fresh(store, a), { kill: [target] })]);
        assert.equal(refusal(verdict), 'target');
      }
    });

    it('law 10: wait-for edges never close a cycle, of one, two or three', async () => {
      const root = await newRoot(store);
      const [a, b, c] = [await child(store, root), await child(store, root), await child(store, root)];
      const waits = async (agent: typeof a, targets: string[]) =>
        (await store.commit([stepOf(await fresh(store, agent), { waits_for: targets })]))[0];
      assert.equal(refusal(await waits(a, [a.id])), 'cycle');
      assert.equal(refusal(await waits(a, [b.id])), 'accepted');
      const two = await waits(b, [c.id, a.id]);
      assert.ok(two?.ok === false && two.refusal.reason === 'cycle');
      assert.deepEqual(two.refusal.path, [b.id, a.id, b.id]);
      assert.equal(refusal(await waits(b, [c.id])), 'accepted');
      const three = await waits(c, [a.id]);
      assert.ok(three?.ok === false && three.refusal.reason === 'cycle');
      assert.deepEqual(three.refusal.path, [c.id, a.id, b.id, c.id]);
      assert.deepEqual(await store.waiters(b.id), [a.id]);
      assert.equal(refusal(await waits(a, [])), 'accepted');
      assert.equal(refusal(await waits(c, [a.id])), 'accepted');
    });

    it('law 10: of forty agents that each wait for all before them, each is visited once, not once per path', async () => {
      const root = await newRoot(store, { children: 64 });
      const before: string[] = [];
      for (let made = 0; made < 40; made += 1) {
        const agent = await child(store, root);
        const [verdict] = await store.commit([stepOf(await fresh(store, agent), { waits_for: [...before] })]);
        assert.equal(refusal(verdict), 'accepted');
        before.push(agent.id);
      }
      const [first, last] = [before[0] as string, before.at(-1) as string];
      const agent = await store.agent(first);
      assert.ok(agent !== null);
      const [verdict] = await store.commit([stepOf(agent, { waits_for: [last] })]);
      assert.ok(verdict?.ok === false && verdict.refusal.reason === 'cycle');
      assert.deepEqual(verdict.refusal.path, [first, last, first]);
    });

    it('law 10: a wait that outlasts another one in the cycle is admitted; one that ends before all others is refused', async () => {
      const root = await newRoot(store);
      const [a, b] = [await child(store, root), await child(store, root)];
      const waits = async (agent: typeof a, target: typeof a, until: number | null) => {
        const waits_until = until === null ? {} : { [target.id]: until };
        return refusal(
          (
            await store.commit([stepOf(await fresh(store, agent), { waits_for: [target.id], waits_until })])
          )[0],
        );
      };
      assert.equal(await waits(a, b, 5_000), 'accepted');
      assert.equal(await waits(b, a, 5_000), 'cycle');
      assert.equal(await waits(b, a, 4_000), 'cycle');
      assert.equal(await waits(b, a, 5_001), 'accepted');
      // Waiting for the same agent for longer is a new wait.
      assert.equal(await waits(a, b, 5_001), 'cycle');
      assert.equal(await waits(a, b, null), 'accepted');
      assert.equal(await waits(b, a, 9_000), 'cycle');
      assert.equal(await waits(b, a, null), 'cycle');
    });

    it('law 10: whoever has asked the agent that it waits for is not refused: the letter ends the other wait', async () => {
      const root = await newRoot(store);
      const [a, b] = [await child(store, root), await child(store, root)];
      const step = async (agent: typeof a, over: Parameters<typeof stepOf>[1]) =>
        refusal((await store.commit([stepOf(await fresh(store, agent), over)]))[0]);
      const until = (target: typeof a, at: number) => ({
        waits_for: [target.id],
        waits_until: { [target.id]: at },
      });
      assert.equal(await step(a, until(b, 5_000)), 'accepted');
      assert.equal(await step(b, until(a, 4_000)), 'cycle');
      assert.equal(await step(b, { ...until(a, 4_000), send: [letter(b, a)] }), 'accepted');
      assert.equal(await step(b, { waits_for: [] }), 'accepted');
      assert.equal(await step(b, until(a, 4_500)), 'accepted');
      assert.equal(await step(b, { waits_for: [] }), 'accepted');
      // No letter ends a wait for a result.
      assert.equal(await step(a, { waits_for: [b.id] }), 'accepted');
      assert.equal(await step(b, until(a, 4_000)), 'cycle');
    });

    it('of two processes that would close a cycle together, one is refused', async () => {
      for (let round = 0; round < 5; round += 1) {
        const root = await newRoot(store);
        const [a, b] = [await child(store, root), await child(store, root)];
        const verdicts = await Promise.all([
          store.commit([stepOf(a, { waits_for: [b.id] })]),
          other.commit([stepOf(b, { waits_for: [a.id] })]),
        ]);
        assert.deepEqual(verdicts.map(([one]) => refusal(one)).toSorted(), ['accepted', 'cycle']);
      }
    });

    it('usage adds up on the agent and on the tree', async () => {
      const root = await newRoot(store);
      const usage = { input: 100, output: 20, cached: 60, reasoning: 5, cost_usd: 0.25 };
      const request = { model: 'm', usage, started_at: 5, duration_ms: 7 };
      const free = { ...request, usage: { ...usage, cost_usd: null } };
      await store.commit([stepOf(root, { requests: [request, free], calls: 3 })]);
      const agent = await fresh(store, root);
      assert.deepEqual(agent.usage, { input: 200, output: 40, cached: 120, reasoning: 10, cost_usd: 0.25 });
      assert.equal(agent.calls, 3);
      const tree = await store.tree(root.id);
      assert.equal(tree?.tokens, 240);
      assert.equal(tree?.cost_usd, 0.25);
      const found = await store.requests(root.id);
      assert.deepEqual(
        found.map(({ model, usage, started_at, duration_ms }) => ({ model, usage, started_at, duration_ms })),
        [request, free],
      );
      const [first, second] = found;
      assert.deepEqual(await store.requests(root.id, 0, 1), [first]);
      assert.deepEqual(await store.requests(root.id, first?.place), [second]);
      assert.deepEqual(await store.newestRequests(root.id, 1), [second]);
      assert.equal(await store.requestCount(root.id), 2);
    });

    it('leases: one claim wins, epochs rise, ended agents are never claimed', async () => {
      const living = { id: randomUUID(), host: 'elsewhere', pid: 1 };
      assert.equal(await store.heartbeat(living), true);
      assert.equal(await store.heartbeat(living), true);
      const root = await newRoot(store, {}, { worker: living.id });
      const dead = await child(store, root);
      await store.kill(dead.id, 'you', 1);
      const [x, y] = [
        { id: randomUUID(), host: 'elsewhere', pid: 2 },
        { id: randomUUID(), host: 'elsewhere', pid: 3 },
      ];
      assert.deepEqual(await store.claim(root.id, x), []);
      await store.release(living.id);
      assert.equal(
        (await store.workers()).some((worker) => worker.id === living.id),
        false,
      );
      await Promise.all([store.heartbeat(x), other.heartbeat(y)]);
      const claims = await Promise.all([store.claim(root.id, x), other.claim(root.id, y)]);
      assert.deepEqual(claims.map((agents) => agents.length).toSorted(), [0, 1]);
      const [claimed] = claims.flat();
      assert.equal(claimed?.epoch, 2);
      assert.equal(
        refusal((await store.commit([stepOf(root, { messages: [said('old holder')] })]))[0]),
        'stale',
      );
    });

    it('of two concurrent claims one wins, each time', async () => {
      const [x, y] = [
        { id: randomUUID(), host: 'elsewhere', pid: 2 },
        { id: randomUUID(), host: 'elsewhere', pid: 3 },
      ];
      for (let round = 0; round < 150; round += 1) {
        // Renews the leases, so that none expires on a slow machine.
        await Promise.all([store.heartbeat(x), other.heartbeat(y)]);
        const root = await newRoot(store, {}, { worker: null });
        const claims = await Promise.all([store.claim(root.id, x), other.claim(root.id, y)]);
        assert.equal(claims.flat().length, 1, `round ${round}`);
      }
    });

    it('a worker of this host whose process is gone loses its lease at once', async () => {
      const gone = { id: randomUUID(), host: hostname(), pid: 2 ** 22 - 3 };
      await store.heartbeat(gone);
      const root = await newRoot(store, {}, { worker: gone.id });
      const mine = { id: randomUUID(), host: hostname(), pid: process.pid };
      await store.heartbeat(mine);
      assert.deepEqual(
        (await store.claim(root.id, mine)).map((agent) => agent.id),
        [root.id],
      );
    });

    it('finds by id, unique prefix, name and session key; no character is a wildcard', async () => {
      const name = `na%me_${randomUUID()}`;
      const root = await newRoot(store, {}, { name });
      const twin = await newRoot(store, {}, { name });
      assert.deepEqual(
        (await store.find(root.id)).map((agent) => agent.id),
        [root.id],
      );
      assert.deepEqual(
        (await store.find(root.id.slice(0, 13))).map((agent) => agent.id),
        [root.id],
      );
      assert.deepEqual(
        (await store.find(root.session_key)).map((agent) => agent.id),
        [root.id],
      );
      assert.deepEqual(
        new Set((await store.find(name)).map((agent) => agent.id)),
        new Set([root.id, twin.id]),
      );
      assert.deepEqual(
        (await store.find(name, root.id)).map((agent) => agent.id),
        [root.id],
      );
      for (const text of ['%', '_', '%%%%', '____', '', 'zzzz', '*', `${name}\0`, "'; DROP TABLE agents; --"])
        assert.deepEqual(await store.find(text), []);
    });

    it('signals: mail, kills and changes of status reach the worker that leads the agent', async () => {
      const [w1, w2] = [randomUUID(), randomUUID()];
      const root = await newRoot(store, {}, { worker: w1 });
      const kid = await child(store, root, { worker: w2 });
      await store.commit([stepOf(await fresh(store, root), { waits_for: [kid.id] })]);
      await store.commit([
        stepOf(await fresh(store, kid), { send: [letter(kid, root)], state: { type: 'idle' } }),
      ]);
      assert.deepEqual(await store.signals(w1), [
        { agent_id: root.id, kind: 'mail', about: null },
        { agent_id: root.id, kind: 'status', about: kid.id },
      ]);
      assert.deepEqual(await store.signals(w1), []);
      await store.kill(kid.id, 'you', 1);
      assert.deepEqual(await store.signals(w2), [{ agent_id: kid.id, kind: 'killed', about: null }]);
    });

    for (const notifications of [true, false]) {
      it(`wake-ups come from another connection, notifications ${notifications ? 'on' : 'off'}`, async () => {
        const listening = await ledger.open({ notifications });
        const worker = randomUUID();
        const root = await newRoot(store, {}, { worker });
        let woken = 0;
        const stop = await listening.listen(worker, () => {
          woken += 1;
        });
        await store.send({ ...letter(root, root), from_id: null });
        for (let tries = 0; tries < 100 && woken === 0; tries += 1) await sleep(50);
        await stop();
        await listening.close();
        assert.ok(woken > 0);
      });
    }

    it('reads what another connection committed, also after reopening', async () => {
      const root = await newRoot(store);
      await store.commit([
        stepOf(root, {
          messages: [said('kept')],
          reply: 'r',
          doing: 'd',
          sent_this_turn: true,
          state: { type: 'idle' },
        }),
      ]);
      const again = await ledger.open();
      const agent = await again.agent(root.id);
      assert.deepEqual(
        [agent?.reply, agent?.doing, agent?.sent_this_turn, agent?.state.type],
        ['r', 'd', true, 'idle'],
      );
      await again.close();
      assert.ok(Math.abs((await store.now()) - Date.now()) < 60_000);
    });

    groupCommitContract(() => ({ store }));
    runHistoryContract(() => ({ store, other }));
    asksContract(() => ({ store, other }));
    cronContract(() => ({ store, other }));
    listPlaceContract(
      () => ({ store, other }),
      (sql) => ledger.execute(sql),
    );
    outboxContract(() => ({ store, other, execute: (sql) => ledger.execute(sql) }));
    idempotenceContract(() => ({ store, other }));
    workersContract(() => ({ store, other, execute: (sql) => ledger.execute(sql) }));
    keyContract(() => ({ store, execute: (sql) => ledger.execute(sql) }));
    unledContract(() => ({ store, other }));
    usageContract(() => ({ store, other }));
    parkedContract(() => ({ store, other }));
    mailBatchContract(() => ({ store, other }));
    letterContract(() => ({ store, other }));
    tasksContract(() => ({ store, other }));
    instructionsContract(() => ({ store, other, execute: (sql) => ledger.execute(sql) }));
    fileChangesContract(() => ({ store, other }));
    searchContract(() => ({ store, other, execute: (sql) => ledger.execute(sql) }));
    retentionContract(() => ({ store, other }));
    removalContract(() => ({ store, other }));
    oldEntriesContract(() => ({ store, other, execute: (sql) => ledger.execute(sql) }));
  });
}
