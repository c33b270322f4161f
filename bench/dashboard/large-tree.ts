import { randomUUID } from 'node:crypto';
import type { Step } from '../../src/kernel/step.ts';
import { DEFAULT_LIMITS } from '../../src/records/agent/limits.ts';
import { newTurn } from '../../src/records/agent/state.ts';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import type { Message } from '../../src/records/conversation/message.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import type { Store } from '../../src/store/store.ts';

export interface LargeTree {
  readonly agents: number;
  /** Number of requests and calls of all agents. */
  readonly steps: number;
}

const MODEL = 'anthropic/claude-sonnet-4-5';
const TOOLS = ['bash', 'read', 'search', 'write', 'search', 'search'] as const;
const NAMES = ['reader', 'analyzer', 'tester', 'writer', 'reviewer'] as const;
const NONE = { allow: [], ask: [], deny: [] };
const CONFIG = {
  model: MODEL,
  thinking: 'off' as const,
  system: '',
  toolsets: ['process'],
  tools: ['bash', 'read', 'search', 'write'],
  cwd: '/',
  permissions: { cli: NONE, config: NONE },
};
/** Interval in rounds at which all agents write to their parents, and the root waits for one of them. */
const WAIT_EVERY = 6;
/** Length of a rest of all agents in the middle. */
const REST_MS = 240_000;

interface Writer {
  readonly id: string;
  readonly parent_id: string | null;
  readonly name: string;
  seq: number;
  now: number;
  /** Id of the newest letter that the agent wrote. */
  letter?: string;
  /** Time at which the agent came to rest in the middle. */
  rested?: number;
}

/** Writes one tree with all its steps into the ledger, through the store; resolves to its root. */
export async function writeLargeTree(store: Store, { agents, steps }: LargeTree): Promise<string> {
  const random = randomFrom(7);
  const began = (await store.now()) - 3_600_000;
  const root: Writer = { id: randomUUID(), parent_id: null, name: 'audit-repo', seq: 1, now: began };
  const limits = { ...DEFAULT_LIMITS, children: agents, live: agents, total: agents };
  await store.createRoot(newAgent(root, root, null), limits, {});
  const all = [root];
  while (all.length < agents) {
    const parent =
      all.length <= agents / 10 ? root : (all[1 + Math.floor(random() * (agents / 10))] as Writer);
    const index = all.length;
    const name = `${NAMES[index % NAMES.length]}-${index}`;
    const at = Math.max(began + random() * 300_000, parent.now);
    const child: Writer = { id: randomUUID(), parent_id: parent.id, name, seq: 1, now: Math.round(at) };
    await store.commit([{ ...step(parent, []), create: [newAgent(child, root, parent)], at: child.now }]);
    all.push(child);
  }
  const rounds = Math.round(steps / agents / 2);
  for (let round = 0; round < rounds; round += 1) {
    await store.commit(all.map((agent) => asks(agent, round, rounds, random, all, root)));
    if (round < rounds - 1)
      await store.commit(all.map((agent) => settles(agent, round, rounds, random, all)));
  }
  return root.id;
}

function newAgent(own: Writer, root: Writer, parent: Writer | null): NewAgent {
  return {
    agent: {
      id: own.id,
      root_id: root.id,
      parent_id: own.parent_id,
      name: own.name,
      session_key: `agent:main:${parent === null ? 'main' : `fork:${own.id}`}`,
      origin: parent === null ? 'root' : 'fork',
      depth: parent === null ? 0 : parent === root ? 1 : 2,
      config: CONFIG,
      state: { type: 'requesting', attempt: 1, turn: newTurn(own.now) },
      forked_from: null,
      worker: null,
      created_at: own.now,
    },
    messages: [{ kind: 'user', content: { origin: 'human', text: 'Audit the repository.' } }],
  };
}

function asks(
  agent: Writer,
  round: number,
  rounds: number,
  random: () => number,
  all: readonly Writer[],
  root: Writer,
): Step {
  const duration_ms = Math.round(500 + random() ** 3 * 25_000);
  const started_at = agent.now + 20;
  agent.now = started_at + duration_ms;
  const input = 2_000 + Math.round(random() * 400) * round;
  const usage = {
    input,
    output: Math.round(random() * 900),
    cached: Math.round(input * 0.8),
    reasoning: 0,
    cost_usd: input * 1e-6,
  };
  const rests = round === rounds - 1 || round === Math.floor(rounds / 2);
  const name = waits(agent, round) ? 'wait' : (TOOLS[Math.floor(random() * TOOLS.length)] as string);
  const call = { type: 'call' as const, id: `c${round}`, name, input: '{"path":"src/main.ts"}' };
  const answer = step(agent, [
    {
      kind: 'assistant',
      content: { model: MODEL, parts: rests ? [{ type: 'text', text: 'Done.' }] : [call] },
    },
  ]);
  const writes = agent !== root && round % WAIT_EVERY === WAIT_EVERY - 1;
  const to = all.find(({ id }) => id === agent.parent_id) ?? root;
  return {
    ...answer,
    requests: [{ model: MODEL, usage, started_at, duration_ms }],
    send: writes ? [letter(agent, to, root)] : [],
    ...(rests ? { state: { type: 'idle' } } : {}),
  };
}

function letter(from: Writer, to: Writer, root: Writer): NewMail {
  from.letter = randomUUID();
  return {
    id: from.letter,
    root_id: root.id,
    to_id: to.id,
    from_id: from.id,
    from_name: from.name,
    kind: 'letter',
    body: 'Half of the files are read; two tests fail.',
    sent_at: from.now,
  };
}

function settles(
  agent: Writer,
  round: number,
  rounds: number,
  random: () => number,
  all: readonly Writer[],
): Step {
  if (round === Math.floor(rounds / 2)) {
    const last = Math.max(...all.map(({ now, rested }) => rested ?? now));
    agent.rested = agent.now;
    agent.now = last + REST_MS;
    return step(agent, [{ kind: 'user', content: { origin: 'human', text: 'Go on.' } }]);
  }
  if (waits(agent, round)) {
    const slow = all[1 + (round % 3)] as Writer;
    agent.now = Math.max(agent.now, slow.now) + 20;
    const results = [{ agent_id: slow.id, name: slow.name, status: 'received' }];
    const message = said(round, 'wait', JSON.stringify({ results }), 'ok');
    const consume = slow.letter === undefined ? [] : [{ mail_id: slow.letter, seq: agent.seq + 1 }];
    return { ...step(agent, [message]), consume };
  }
  agent.now += Math.round(30 + random() ** 2 * 12_000);
  return step(agent, [said(round, 'any', 'export function main() {}', random() < 0.04 ? 'error' : 'ok')]);
}

function waits(agent: Writer, round: number): boolean {
  return agent.parent_id === null && round % WAIT_EVERY === WAIT_EVERY - 1;
}

function said(round: number, name: string, output: string, status: 'ok' | 'error'): Message {
  return { kind: 'result', content: { call_id: `c${round}`, name, status, output } };
}

function step(agent: Writer, messages: readonly Message[]): Step {
  const base_seq = agent.seq;
  agent.seq += messages.length;
  return {
    agent_id: agent.id,
    epoch: 1,
    base_seq,
    at: agent.now,
    state: { type: 'requesting', attempt: 1, turn: newTurn(agent.now) },
    messages,
    create: [],
    send: [],
    consume: [],
    kill: [],
    waits_for: null,
    waits_until: {},
    requests: [],
    calls: 0,
    doing: null,
    reply: null,
    sent_this_turn: false,
    noticed: 0,
    remove: [],
    asks: [],
    void_asks: [],
    deliver: [],
  };
}

/** Deterministic random numbers from 0 to 1 (exclusive). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
