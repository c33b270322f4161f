import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import type { Mail } from '../../src/records/conversation/mail.ts';
import type { Store } from '../../src/store/store.ts';
import { letter, newAgent, said, stepOf } from '../../test/store/ledger-fixture.ts';

export interface WorkloadResult {
  readonly roots: readonly string[];
  readonly steps: number;
  readonly steps_per_second: number;
}

const CHILDREN = 4;
/** Trees whose steps share a commit, and commits at once. */
const TREES_AT_ONCE = 10;
const LANES = 4;
const TEXT = 'what was found here, in some words; '.repeat(10);

interface Work {
  agent: Agent;
  unread: Mail[];
}

/** Trees of a root and four children that write messages and letters to each other and read them: steps as a worker makes them, through the store. */
export async function workload(store: Store, trees: number, rounds: number): Promise<WorkloadResult> {
  const groups: Work[][] = [];
  const roots: string[] = [];
  for (let number = 0; number < trees; number += 1) {
    const group = await begin(store);
    roots.push((group[0] as Work).agent.id);
    if (number % TREES_AT_ONCE === 0) groups.push([]);
    groups.at(-1)?.push(...group);
  }
  const begun = performance.now();
  let steps = 0;
  const lane = async (number: number) => {
    for (let round = 0; round < rounds; round += 1)
      for (let at = number; at < groups.length; at += LANES)
        steps += await advance(store, groups[at] as Work[]);
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  return { roots, steps, steps_per_second: (steps / (performance.now() - begun)) * 1_000 };
}

async function begin(store: Store): Promise<Work[]> {
  const created = newAgent(null);
  await store.createRoot(created, DEFAULT_LIMITS);
  const root = (await store.agent(created.agent.id)) as Agent;
  const children = Array.from({ length: CHILDREN }, () => newAgent(root));
  await commit(store, [stepOf(root, { create: children })]);
  const agents = await store.agents({ root_id: root.id });
  // Its root first.
  const sorted = agents.toSorted((one, other) => one.depth - other.depth);
  return sorted.map((agent) => ({ agent, unread: [] }));
}

/** One step of every agent: it takes what lies in its mailbox, says something, and writes to the next of its tree. */
async function advance(store: Store, works: Work[]): Promise<number> {
  const steps = works.map(({ agent, unread }, at): Step => {
    const next = works[at + 1];
    const to = next?.agent.root_id === agent.root_id ? next.agent : agent;
    const seq = agent.last_seq + 1;
    return stepOf(agent, {
      messages: [said(TEXT), said(TEXT)],
      consume: unread.map(({ id }) => ({ mail_id: id, seq })),
      send: [letter(agent, to, TEXT)],
      requests: [
        {
          model: 'm',
          usage: { input: 10, output: 5, cached: 0, reasoning: 0, cost_usd: null },
          started_at: 1,
          duration_ms: 1,
        },
      ],
    });
  });
  const verdicts = await commit(store, steps);
  for (const work of works) {
    work.agent = { ...work.agent, last_seq: work.agent.last_seq + 2 };
    work.unread = [];
  }
  const by_id = new Map(works.map((work) => [work.agent.id, work]));
  for (const mail of verdicts.flatMap((verdict) => verdict.sent)) by_id.get(mail.to_id)?.unread.push(mail);
  return steps.length;
}

async function commit(store: Store, steps: readonly Step[]) {
  const verdicts = await store.commit(steps);
  return verdicts.map((verdict) => {
    if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal));
    return verdict;
  });
}
