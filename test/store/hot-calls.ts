import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { NewRun } from '../../src/records/run/run.ts';
import type { Store } from '../../src/store/store.ts';
import { LARGE_LEADER, LED, PARKED_ALONE, RESTING } from './large-ledger.ts';
import { CONFIG, letter, newAgent, newAsk, said, stepOf } from './ledger-fixture.ts';

/** A frequent call, or one that somebody waits for. */
export interface HotCall {
  readonly name: string;
  /** Maximum rows that it may read, whatever the size of the ledger. */
  readonly rows: number;
  readonly call: (store: Store) => Promise<void>;
}

const AT = 1_700_000_000_000;
const WORKER = { id: 'hot-worker', host: 'elsewhere', pid: 1 };

async function agentOf(store: Store, id: string): Promise<Agent> {
  const agent = await store.agent(id);
  assert.ok(agent, id);
  return agent;
}

async function step(store: Store, id: string, over: Parameters<typeof stepOf>[1]): Promise<void> {
  const agent = await agentOf(store, id);
  const [verdict] = await store.commit([stepOf(agent, { messages: [said('x')], ...over })]);
  assert.ok(verdict?.ok, JSON.stringify(verdict));
}

function fromOutside(to: Agent): ReturnType<typeof letter> {
  return { ...letter(to, to), id: randomUUID(), from_id: null };
}

async function spawn(store: Store, cleanup: NewRun['cleanup']): Promise<string> {
  const parent = await agentOf(store, LED.id);
  const child = newAgent(parent, { origin: 'session', worker: LARGE_LEADER });
  const run: NewRun = {
    id: randomUUID(),
    source: 'subagent',
    session_key: child.agent.session_key,
    requester_id: parent.id,
    requester_key: parent.session_key,
    task: 't',
    label: null,
    model: 'fake/m',
    thinking: 'off',
    timeout_ms: null,
    cleanup,
    deliver: ['stdout'],
    job_id: null,
  };
  await step(store, parent.id, { create: [{ ...child, run }] });
  return child.agent.id;
}

/** Ordered so that the size of the ledger stays the same. */
export const HOT_CALLS: readonly HotCall[] = [
  {
    name: 'commit: messages, a letter, its consumption, edges, usage',
    rows: 200,
    call: async (store) => {
      const agent = await agentOf(store, LED.id);
      const sent = await store.send(fromOutside(agent));
      assert.ok(sent.ok);
      const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: 0.1 };
      await step(store, LED.id, {
        consume: [{ mail_id: sent.mail.id, seq: agent.last_seq + 1 }],
        send: [letter(agent, await agentOf(store, LED.root_id))],
        waits_for: [LED.root_id],
        requests: [{ model: 'm', usage, started_at: 1, duration_ms: 1 }],
        calls: 1,
      });
      await step(store, LED.id, { messages: [], calls: 2, waits_for: [] });
    },
  },
  {
    name: 'commit: create, ask, deliver, end a run, kill',
    rows: 300,
    call: async (store) => {
      const id = await spawn(store, 'keep');
      await step(store, id, {
        asks: [newAsk({ root_id: LED.root_id, agent_id: id, agent_name: 'kid', call_id: 'c1' })],
      });
      await step(store, id, { state: { type: 'completed', result: 'r' } });
      const other = await spawn(store, 'keep');
      await step(store, LED.id, { kill: [other], remove: [id] });
    },
  },
  {
    name: 'send and kill from outside, answer',
    rows: 200,
    call: async (store) => {
      const id = await spawn(store, 'keep');
      assert.ok((await store.send(fromOutside(await agentOf(store, id)))).ok);
      assert.deepEqual((await store.kill(id, 'you', AT)).ids, [id]);
      assert.equal((await store.answer('e1000100', NO)).ok, false);
    },
  },
  {
    name: 'unledTrees, nothing to do',
    rows: 20,
    call: async (store) => assert.deepEqual(await store.unledTrees(50), []),
  },
  {
    name: 'a letter wakes a parked tree: unledTrees, claim, releaseTree',
    rows: 1_500,
    call: async (store) => {
      await store.heartbeat(WORKER);
      const agent = await agentOf(store, RESTING.id);
      const sent = await store.send(fromOutside(agent));
      assert.ok(sent.ok);
      assert.deepEqual(await store.unledTrees(50), [RESTING.root_id]);
      const claimed = await store.claim(RESTING.root_id, WORKER);
      assert.equal(claimed.length, 100);
      await step(store, RESTING.id, { consume: [{ mail_id: sent.mail.id, seq: agent.last_seq + 1 }] });
      await store.releaseTree(RESTING.root_id, WORKER.id, new Map(claimed.map(({ id }) => [id, AT * 2])));
      await store.release(WORKER.id);
    },
  },
  {
    name: 'heartbeat, workers, signals, now',
    rows: 100,
    call: async (store) => {
      await store.heartbeat({ ...WORKER, id: LARGE_LEADER });
      assert.ok((await store.workers()).length > 0);
      await store.signals(LARGE_LEADER);
      await store.now();
    },
  },
  {
    name: 'dueJobs and nextDue, nothing due',
    rows: 20,
    call: async (store) => {
      assert.deepEqual(await store.dueJobs(AT, 100), []);
      assert.ok((await store.nextDue()) !== null);
    },
  },
  {
    name: 'claimDeliveries, pendingChannels, cleanRuns, nothing to do',
    rows: 50,
    call: async (store) => {
      await store.claimDeliveries('nobody', AT * 2, 10, ['telegram']);
      await store.pendingChannels();
      assert.deepEqual(await store.cleanRuns(AT, 100), []);
    },
  },
  {
    name: 'history, mail, requests, waiters, children',
    rows: 400,
    call: async (store) => {
      assert.ok((await store.history(LED.id)).length >= 3);
      assert.deepEqual(await store.mail(PARKED_ALONE.id), []);
      assert.equal((await store.mail(PARKED_ALONE.id, true)).length, 10);
      await store.requests(LED.id);
      assert.equal((await store.waiters(PARKED_ALONE.id)).length, 1);
      assert.ok((await store.agents({ root_id: LED.root_id, living: true })).length >= 100);
      assert.deepEqual(await store.agents({ parent_id: LED.id, living: true }), []);
    },
  },
  {
    name: 'conversations, the newest checkpoint, mail of a tree, newest requests, what the trees of a page wait for',
    rows: 1_500,
    call: async (store) => {
      const found = await store.conversations([LED.id, PARKED_ALONE.id]);
      assert.ok((found.get(LED.id)?.messages.length ?? 0) >= 3);
      assert.equal(await store.checkpoint(LED.id), null);
      const [first] = await store.treeMail(LED.root_id, undefined, 5);
      assert.equal((await store.treeMail(LED.root_id, first?.id, 5)).length, 5);
      assert.ok((await store.newestRequests(RESTING.id, 1)).length <= 1);
      await store.requestCount(RESTING.id);
      await store.asks({ root_ids: [RESTING.root_id], open: true });
      await store.asks({ open: true, limit: 20 });
      await store.openAsks();
      await store.changedAt([RESTING.root_id]);
      await store.leftAlone([RESTING.root_id], []);
    },
  },
  {
    name: 'find by id, prefix, name and session key',
    rows: 400,
    call: async (store) => {
      for (const text of [
        RESTING.id,
        RESTING.id.slice(0, -1),
        'kid 70003',
        'agent:main:fork:70003',
        'nobody',
      ])
        assert.equal((await store.find(text)).length > 0, text !== 'nobody', text);
      assert.equal((await store.find('kid 70003', PARKED_ALONE.root_id)).length, 1);
    },
  },
  {
    name: 'the newest conversations, of a folder and of all',
    rows: 200,
    call: async (store) => {
      assert.equal((await store.agents({ conversations: true, limit: 5 })).length, 5);
      const { cwd } = CONFIG;
      assert.equal((await store.agents({ conversations: true, cwd, limit: 50 })).length, 50);
      assert.deepEqual(await store.agents({ conversations: true, cwd: '/nowhere', limit: 1 }), []);
    },
  },
  {
    name: 'the workflow runs, which are few among all agents',
    rows: 50,
    call: async (store) => assert.deepEqual(await store.agents({ workflows: true, limit: 20 }), []),
  },
  {
    name: 'the newest agents, living ones and all',
    rows: 1_000,
    call: async (store) => {
      assert.equal((await store.agents({ living: true, limit: 200 })).length, 200);
      assert.equal((await store.agents({ limit: 200 })).length, 200);
    },
  },
  {
    name: 'the run history, with limits',
    rows: 1_000,
    call: async (store) => {
      assert.equal((await store.runs({ limit: 20 })).length, 20);
      assert.equal((await store.runs({ root_id: RESTING.root_id, limit: 20 })).length, 20);
      assert.equal((await store.runs({ job_id: 'd1000002', limit: 20 })).length, 20);
      assert.equal((await store.runs({ source: 'cron', limit: 20 })).length, 20);
      assert.equal((await store.runs({ source: 'delegate', limit: 20 })).length, 0);
      await store.runs({ active: true });
      for (const text of ['c1000100', 'c100010', 'agent:main:subagent:101', 'cron:d1000002'])
        assert.ok((await store.findRuns(text)).length > 0, text);
    },
  },
  {
    name: 'asks, by whom and open ones',
    rows: 500,
    call: async (store) => {
      assert.ok((await store.asks({ root_id: RESTING.root_id })).length > 0);
      await store.asks({ agent_id: RESTING.id });
      await store.asks({ agent_id: RESTING.id, open: true });
      await store.asks({ open: true });
      assert.equal((await store.findAsks('e1000100')).length, 1);
      assert.ok((await store.findAsks('e100010')).length > 1);
    },
  },
  {
    name: 'what may have changed: agents that others lead, newest roots, a tree',
    rows: 3_000,
    call: async (store) => {
      assert.equal((await store.marks({ led_without: 'another', limit: 2_000 })).length, 2_000);
      assert.equal((await store.marks({ newest_roots: 200 })).length, 200);
      assert.ok((await store.marks({ root_id: RESTING.root_id })).length > 0);
    },
  },
  {
    name: 'deliveries, with limits',
    rows: 500,
    call: async (store) => {
      assert.equal((await store.deliveries({ limit: 20 })).length, 20);
      assert.deepEqual(await store.deliveries({ status: 'failed', limit: 20 }), []);
      await store.deliveries({ status: 'pending', limit: 20 });
      assert.equal((await store.deliveries({ about: 'c1000100' })).length, 1);
      assert.equal((await store.findDeliveries('run-c1000100')).length, 1);
      await store.retryDeliveries(null, AT);
    },
  },
  {
    name: 'jobs: find, of a tree, their instants',
    rows: 300,
    call: async (store) => {
      assert.equal((await store.findJobs('job 5000')).length, 1);
      assert.equal((await store.findJobs('cron:d1005000')).length, 1);
      assert.ok((await store.jobs({ root_id: 'b1000300' })).length > 0);
      assert.equal((await store.fires('d1000001', 20)).length, 20);
    },
  },
  {
    name: 'past agents of a kind',
    rows: 1_000,
    call: async (store) => {
      assert.ok((await store.pastAgents({ profile: null, model: CONFIG.model })).length <= 200);
    },
  },
  {
    // Counts all open work: the 40,000 agents that nobody leads here, and the row of each.
    name: 'the load, and the newest requests',
    rows: 110_000,
    call: async (store) => {
      assert.ok((await store.load()).agents.length > 0);
      const last = await store.lastRequest();
      assert.ok((await store.requestsAfter(last - 100, 50)).length > 0);
    },
  },
];

const NO = { verdict: 'deny', scope: 'once', note: '', by: 'you', at: 1 } as const;
