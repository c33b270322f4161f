import { randomUUID } from 'node:crypto';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS, type Limits } from '../../src/records/agent/limits.ts';
import { newTurn } from '../../src/records/agent/state.ts';
import type { TaskTerms } from '../../src/records/agent/task-terms.ts';
import type { Ask, NewAsk } from '../../src/records/conversation/ask.ts';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import type { Message } from '../../src/records/conversation/message.ts';
import type { NewDelivery } from '../../src/records/run/delivery.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import type { Store } from '../../src/store/store.ts';

const NONE = { allow: [], ask: [], deny: [] };
export const CONFIG: Agent['config'] = {
  model: 'fake/m',
  thinking: 'off',
  system: 's',
  toolsets: ['process'],
  tools: [],
  cwd: '/',
  permissions: { cli: NONE, config: NONE },
};

export function said(text: string): Message {
  return { kind: 'user', content: { origin: 'human', text } };
}

export function answer(text: string): Message {
  return { kind: 'assistant', content: { model: 'm/m', parts: [{ type: 'text', text }] } };
}

export function newAgent(
  parent: Agent | null,
  over: Partial<NewAgent['agent']> = {},
  messages: readonly Message[] = [said('hello')],
): NewAgent {
  const id = over.id ?? randomUUID();
  return {
    agent: {
      id,
      root_id: parent?.root_id ?? id,
      parent_id: parent?.id ?? null,
      name: 'agent',
      session_key: `agent:main:fork:${id}`,
      origin: parent === null ? 'root' : 'fork',
      depth: parent === null ? 0 : parent.depth + 1,
      config: CONFIG,
      state: { type: 'requesting', attempt: 1, turn: newTurn(1) },
      forked_from: null,
      worker: parent?.worker ?? 'w1',
      created_at: Date.now(),
      ...over,
    },
    messages,
  };
}

export async function newRoot(
  store: Store,
  limits: Partial<Limits> = {},
  over: Partial<NewAgent['agent']> = {},
): Promise<Agent> {
  const root = newAgent(null, over);
  await store.createRoot(root, { ...DEFAULT_LIMITS, ...limits });
  return (await store.agent(root.agent.id)) as Agent;
}

/** A step that changes only what `over` says. */
export function stepOf(
  agent: Pick<Agent, 'id' | 'epoch' | 'last_seq' | 'state' | 'reply' | 'noticed' | 'sent_this_turn'>,
  over: Partial<Step> = {},
): Step {
  return {
    agent_id: agent.id,
    epoch: agent.epoch,
    base_seq: agent.last_seq,
    at: Date.now(),
    state: agent.state,
    messages: [],
    create: [],
    send: [],
    consume: [],
    kill: [],
    waits_for: null,
    waits_until: {},
    requests: [],
    calls: 0,
    doing: null,
    reply: agent.reply,
    noticed: agent.noticed,
    remove: [],
    asks: [],
    void_asks: [],
    deliver: [],
    sent_this_turn: agent.sent_this_turn,
    ...over,
  };
}

export async function child(
  store: Store,
  parent: Agent,
  over: Partial<NewAgent['agent']> = {},
): Promise<Agent> {
  const now = (await store.agent(parent.id)) as Agent;
  const created = newAgent(now, over);
  const [verdict] = await store.commit([stepOf(now, { create: [created] })]);
  if (!verdict?.ok) throw new Error(JSON.stringify(verdict));
  return (await store.agent(created.agent.id)) as Agent;
}

export function letter(from: Agent, to: Agent, body = 'hi'): NewMail {
  return {
    id: randomUUID(),
    root_id: to.root_id,
    to_id: to.id,
    from_id: from.id,
    from_name: from.name,
    kind: 'letter',
    body,
    sent_at: 1,
  };
}

export async function fresh(store: Store, agent: Agent): Promise<Agent> {
  return (await store.agent(agent.id)) as Agent;
}

/** An ask for a call of an agent in the tree `root` unless `over` says otherwise, to be added to a step. */
export function newAsk(over: Partial<NewAsk>): NewAsk {
  return {
    id: randomUUID(),
    root_id: 'root',
    agent_id: 'agent',
    agent_name: 'agent',
    call_id: 'call-1',
    tool: 'bash',
    subject: 'rm x',
    subject_kind: 'command',
    input: '{}',
    difference: null,
    cwd: '/',
    rule: 'ask(bash)',
    asked_at: 1,
    ...over,
  };
}

export function openAsk(over: Partial<Ask>): Ask {
  const open = { verdict: null, scope: null, note: null, answered_by: null, answered_at: null };
  const nothing = { granted: null, revoked_at: null };
  return { ...newAsk(over), ...open, ...nothing, ...over };
}

/** The terms of an agent that another agent created for a task. */
export function termsOf(over: Partial<TaskTerms> = {}): TaskTerms {
  return {
    kind: 'spawn',
    label: null,
    run_id: null,
    cleanup: 'keep',
    output_schema: null,
    delegation: 0,
    worktree: null,
    ...over,
  };
}

/** A reply of the agent to a channel that no other test uses. */
export function newDelivery(
  agent: Pick<Agent, 'id' | 'root_id'>,
  over: Partial<NewDelivery> = {},
): NewDelivery {
  return {
    id: randomUUID(),
    kind: 'reply',
    target: `${randomUUID()}:x`,
    root_id: agent.root_id,
    agent_id: agent.id,
    about: null,
    body: 'text',
    created_at: 1_000,
    ...over,
  };
}
