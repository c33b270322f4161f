import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { AgentState } from '../../src/records/agent/state.ts';
import type { NewAsk } from '../../src/records/conversation/ask.ts';
import type { FireRequest } from '../../src/records/run/fire-request.ts';
import type { NewRun } from '../../src/records/run/run.ts';
import type { RetentionTerms } from '../../src/store/retention-ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { jobOf } from '../cron/cron-stage.ts';
import { fresh, letter, newAgent, newAsk, said, stepOf } from './ledger-fixture.ts';

/** The time at which everything old happened. */
export const OLD = 1_000;
export const TERMS: RetentionTerms = { before: 10_000, idle: false };
export const ENDED: AgentState = { type: 'completed', result: 'done' };
export const EVERY = { type: 'every', every_ms: 60_000, anchor: 0 } as const;

/** A tree whose root was created at `at` and changed to `state` then. */
export async function oldTree(
  store: Store,
  state: AgentState,
  over: Partial<Step> = {},
  at = OLD,
): Promise<Agent> {
  const root = newAgent(null, { created_at: at, worker: null });
  await store.createRoot(root, DEFAULT_LIMITS);
  const now = (await store.agent(root.agent.id)) as Agent;
  const [verdict] = await store.commit([stepOf(now, { at, state, ...over })]);
  assert.ok(verdict?.ok, JSON.stringify(verdict));
  return fresh(store, now);
}

export async function oldChild(store: Store, root: Agent, state: AgentState): Promise<Agent> {
  const child = newAgent(root, { created_at: OLD, worker: null, state });
  const [verdict] = await store.commit([
    stepOf(await fresh(store, root), { at: OLD, messages: [said('x')], create: [child] }),
  ]);
  assert.ok(verdict?.ok, JSON.stringify(verdict));
  return (await store.agent(child.agent.id)) as Agent;
}

/** A background run that ended long ago, below a root. */
export async function oldRun(store: Store, root: Agent): Promise<{ agent: Agent; run: NewRun }> {
  const session = newAgent(root, {
    origin: 'session',
    created_at: OLD + 1,
    worker: null,
    state: { type: 'idle' },
  });
  const run = runOf(root);
  await store.commit([
    stepOf(await fresh(store, root), {
      at: OLD,
      messages: [said('x')],
      create: [{ ...session, run }],
    }),
  ]);
  const agent = (await store.agent(session.agent.id)) as Agent;
  await store.commit([stepOf(agent, { at: OLD, state: ENDED })]);
  return { agent, run };
}

/** Ends an agent, long ago. */
export async function endLongAgo(store: Store, agent: Agent): Promise<void> {
  const [verdict] = await store.commit([
    stepOf(await fresh(store, agent), { at: OLD, messages: [said('end')], state: ENDED }),
  ]);
  assert.ok(verdict?.ok);
}

/** Fires an event of a job into the session of an agent. */
export async function fire(
  store: Store,
  agent: Agent,
  over: { readonly job_id?: string; readonly instant?: number } = {},
): Promise<string> {
  let { job_id } = over;
  if (job_id === undefined) {
    job_id = randomUUID();
    await store.createJob({ ...jobOf(EVERY), id: job_id, name: job_id }, null);
  }
  const [job] = await store.findJobs(job_id);
  const request: FireRequest = {
    job_id,
    version: job?.version ?? 1,
    next_at: job?.next_at ?? null,
    instant: over.instant ?? 1,
    manual: true,
    waited: false,
    missed: 0,
    then_at: null,
    disable: false,
    overlap: 'skip',
    at: OLD,
    begin: {
      type: 'event',
      mail: { ...letter(agent, agent), id: randomUUID(), from_id: null, kind: 'event', body: 'x' },
    },
  };
  const { outcome } = await store.fire(request);
  if (over.job_id === undefined) await store.removeJob(job_id);
  return outcome;
}

export function askOf(agent: Agent): NewAsk {
  return newAsk({
    root_id: agent.root_id,
    agent_id: agent.id,
    agent_name: agent.name,
    call_id: 'c1',
    asked_at: OLD,
  });
}

export function runOf(requester: Pick<Agent, 'id' | 'session_key'>): NewRun {
  return {
    id: randomUUID(),
    source: 'subagent',
    session_key: `agent:main:subagent:${randomUUID()}`,
    requester_id: requester.id,
    requester_key: requester.session_key,
    task: 't',
    label: null,
    model: 'fake/m',
    thinking: 'off',
    timeout_ms: null,
    cleanup: 'keep',
    deliver: [],
    job_id: null,
  };
}
