/** The rules of the ledger: pure decisions from facts to changed rows. This file admits steps; the other calls have a file each. */

import { isTask } from '../../records/agent/agent.ts';
import { amountsOf } from '../../records/agent/budget.ts';
import { awaitsAnyone, isTerminal, isWorking, onlyWaits } from '../../records/agent/state.ts';
import type { Refusal, Step, Verdict } from '../step.ts';
import { budgetsOf, charge } from './budgets.ts';
import { append, create, exceededLimit, storedConfig, treeRecord } from './create-agents.ts';
import type { AgentFacts, FactKeys, TreeFacts } from './facts.ts';
import { kill, recordEnd } from './kill.ts';
import { isSettled, post, signalWaiters } from './post-mail.ts';
import { enterDelivery, markRunCleaned, signalQueued, startRun } from './run-history.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { enterUnled, leaveUnled, signal } from './unled.ts';
import { findWaitCycle, type WaitEdge } from './wait-cycle.ts';

/** `token`: identifies a step without messages, so that a retry after a lost acknowledgement is recognised; null for a step with messages. */
export interface SubmittedStep {
  readonly step: Step;
  readonly token: string | null;
}

/** Facts that these steps need in any case, so that PostgreSQL reads them in one round trip. Lazy: SQLite reads each fact on demand and never iterates. */
export function factKeysOf(submitted: readonly SubmittedStep[]): FactKeys {
  const of = (keys: (step: Step, has_token: boolean) => readonly string[]): Iterable<string> => ({
    *[Symbol.iterator]() {
      for (const { step, token } of submitted) yield* keys(step, token !== null);
    },
  });
  return {
    agent: of(({ agent_id, payers, kill, remove, waits_for, create, send }, has_token) => {
      const made = new Set(create.map(({ agent }) => agent.id));
      const to = send.map(({ to_id }) => to_id).filter((id) => !made.has(id));
      return [
        agent_id,
        ...(payers ?? []),
        ...kill,
        ...remove,
        ...(waits_for ?? []),
        ...to,
        ...(has_token ? made : []),
      ];
    }),
    mail: of(({ consume, send }, has_token) => [
      ...consume.map(({ mail_id }) => mail_id),
      ...(has_token ? send.map(({ id }) => id) : []),
    ]),
    edges: of(({ agent_id, waits_for, state }) =>
      waits_for !== null || isTerminal(state.type) ? [agent_id, ...(waits_for ?? [])] : [],
    ),
    pending: of(({ agent_id, waits_for }) => (waits_for === null ? [] : [agent_id, ...waits_for])),
    waiters: of(({ agent_id, state }) => (isWorking(state.type) && !awaitsAnyone(state) ? [] : [agent_id])),
    run: of(({ agent_id, state, consume }) =>
      isTerminal(state.type) || consume.length > 0 ? [agent_id] : [],
    ),
    queued: of(({ agent_id, state }) => (isTerminal(state.type) ? [agent_id] : [])),
    ask: of(({ asks, void_asks }, has_token) => [
      ...void_asks,
      ...(has_token ? asks.map(({ id }) => id) : []),
    ]),
    below: of(({ kill }) => kill),
    children: of(({ remove }) => remove),
  };
}

/**
 * Admits or refuses a step. Law 8: the writer leads the agent, and the step is based on its newest state and was not applied before. The other guards follow
 * in the order of the contract (`kernel/step.ts`).
 */
export function admit(unit: UnitOfWork, { step, token }: SubmittedStep): Verdict {
  const agent = unit.agent(step.agent_id);
  if (
    agent === null ||
    agent.epoch !== step.epoch ||
    agent.last_seq !== step.base_seq ||
    isTerminal(agent.status) ||
    (unit.tree(agent.root_id) as TreeFacts).removal !== null ||
    (token !== null && (agent.last_write === token || isAlreadyApplied(unit, step)))
  )
    return { ok: false, refusal: { reason: 'stale' } };
  const refusal =
    exceededLimit(unit, step, agent) ??
    unreachableRecipient(unit, step, agent) ??
    consumedMail(unit, step) ??
    waitCycle(unit, step) ??
    invalidKillTarget(unit, step, agent);
  return refusal === null ? write(unit, step, agent, token) : { ok: false, refusal };
}

/** Idempotent: a retry after a lost acknowledgement. */
function isAlreadyApplied(unit: UnitOfWork, step: Step): boolean {
  return (
    step.asks.some(({ id }) => unit.ask(id) !== null) ||
    step.create.some(({ agent }) => unit.agent(agent.id) !== null) ||
    step.send.some(({ id }) => unit.mail(id) !== null)
  );
}

function unreachableRecipient(unit: UnitOfWork, step: Step, agent: AgentFacts): Refusal | null {
  const created = new Set(step.create.map((child) => child.agent.id));
  for (const { to_id } of step.send) {
    if (created.has(to_id)) continue;
    const to = unit.agent(to_id);
    if (to === null || to.root_id !== agent.root_id)
      return { reason: 'recipient', agent_id: to_id, found: 'unknown' };
    if (isTerminal(to.status)) return { reason: 'recipient', agent_id: to_id, found: 'dead' };
  }
  return null;
}

/** Law 6. */
function consumedMail(unit: UnitOfWork, step: Step): Refusal | null {
  const taken = step.consume.find(({ mail_id }) => !unit.isPending(mail_id, step.agent_id));
  return taken === undefined ? null : { reason: 'consumed', mail_id: taken.mail_id };
}

function edgesOf({ waits_for, waits_until }: Step): readonly WaitEdge[] {
  return (waits_for ?? []).map((target) => ({ target, until: waits_until[target] ?? null }));
}

/** Law 10. */
function waitCycle(unit: UnitOfWork, step: Step): Refusal | null {
  if (step.waits_for === null || step.waits_for.length === 0) return null;
  // Edges that exist already closed no cycle; a new cycle needs a new edge.
  const known = new Map(unit.edges(step.agent_id).map(({ target, until }) => [target, until]));
  const busy = step.waits_for.filter((id) => unit.edges(id).length > 0);
  unit.prefetch({ reach: busy });
  unit.prefetch({ edges: busy.flatMap((id) => unit.facts.get('reach', id)) });
  for (const edge of edgesOf(step)) {
    const until = known.get(edge.target);
    if (until === edge.until || (until && until + (step.moved_ms ?? 0) === edge.until)) continue;
    const path = findWaitCycle(step.agent_id, edge, (id) =>
      // Whoever has a letter of the agent that waits for it is freed (`waits_for_you`).
      id === edge.target && isAsked(unit, step, id)
        ? unit.edges(id).filter(({ target, until }) => target !== step.agent_id || until === null)
        : unit.edges(id),
    );
    if (path !== null) return { reason: 'cycle', path };
  }
  return null;
}

function isAsked(unit: UnitOfWork, step: Step, id: string): boolean {
  const sent = step.send.some(({ to_id, kind }) => to_id === id && kind === 'letter');
  return sent || hasLetter(unit, id, step.agent_id);
}

function hasLetter(unit: UnitOfWork, to_id: string, from_id: string): boolean {
  const isFrom = (mail_id: string) => unit.mail(mail_id)?.from_id === from_id;
  return unit.pending(to_id).some(({ id, kind }) => kind === 'letter' && isFrom(id));
}

function invalidKillTarget(unit: UnitOfWork, step: Step, agent: AgentFacts): Refusal | null {
  const isBelow = (id: string): boolean => {
    const parent_id = unit.agent(id)?.parent_id ?? null;
    return parent_id !== null && (parent_id === agent.id || isBelow(parent_id));
  };
  const wrong = step.kill.find((id) => id === agent.id || !isBelow(id));
  return wrong === undefined ? null : { reason: 'target', agent_id: wrong };
}

function write(unit: UnitOfWork, step: Step, before: AgentFacts, token: string | null): Verdict {
  const { agent_id, at, state } = step;
  const { root_id, worker, name } = before;
  const last_seq = append(unit, agent_id, step.base_seq, step.messages, at);
  const ended = isTerminal(state.type);
  const agent = unit.setAgent(
    before,
    {
      status: state.type,
      last_seq,
      noticed: step.noticed,
      calls: before.calls + step.calls,
      living_children: before.living_children + step.create.length,
      ...(isWorking(state.type) ? {} : { deaths: 0 }),
      ...(token === null ? {} : { last_write: token }),
      ...(ended ? { worker: null } : {}),
      ...used(before, step),
    },
    {
      state: JSON.stringify(state),
      doing: ended ? null : step.doing,
      reply: step.reply,
      sent_this_turn: step.sent_this_turn,
      updated_at: at,
      ...(step.config === undefined ? {} : { config: storedConfig(unit, root_id, step.config) }),
      ...(ended ? { ended_at: at } : {}),
    },
  );
  for (const request of step.requests) enterRequest(unit, agent_id, request);
  for (const child of step.create) create(unit, child, last_seq);
  count(unit, step, root_id);
  charge(unit, step, root_id);
  for (const { mail_id, seq } of step.consume) unit.consume(mail_id, seq);
  const sent = step.send.map((mail) => post(unit, mail, worker, mail.from_id === agent_id ? last_seq : null));
  const met = ended ? [] : setWaitEdges(unit, step);
  if (ended) recordEnd(unit, agent, step);
  else if (before.status === 'idle' && isTask(before.origin) && isWorking(state.type))
    startRun(unit, agent_id, at);
  if (!isWorking(state.type) || awaitsAnyone(state)) signalWaiters(unit, agent_id, worker);
  if (ended && before.origin === 'session') signalQueued(unit, agent_id, worker);
  const killed = step.kill.flatMap((id) => kill(unit, id, name, at, worker, agent_id));
  for (const id of step.remove) removeChild(unit, id, agent_id, at);
  for (const ask of step.asks) unit.addAsk(ask);
  for (const id of step.void_asks) voidAsk(unit, id, at);
  for (const delivery of step.deliver) enterDelivery(unit, delivery);
  if (worker === null) {
    leaveUnled(unit, agent);
    enterUnled(unit, [unit.agent(agent_id) as AgentFacts]);
  }
  const budgets = budgetsOf(unit, [...(step.payers ?? []), ...step.create.map((child) => child.agent.id)]);
  return { ok: true, killed, sent, met, budgets, tree: treeRecord(unit, unit.tree(root_id) as TreeFacts) };
}

type Used = Pick<
  AgentFacts,
  'input_tokens' | 'output_tokens' | 'cached_tokens' | 'reasoning_tokens' | 'cost_usd'
>;

function used(before: AgentFacts, { requests }: Step): Partial<Used> {
  if (requests.length === 0) return {};
  let { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd } = before;
  for (const { usage } of requests) {
    input_tokens += usage.input;
    output_tokens += usage.output;
    cached_tokens += usage.cached;
    reasoning_tokens += usage.reasoning;
    if (usage.cost_usd !== null) cost_usd = (cost_usd ?? 0) + usage.cost_usd;
  }
  return { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd };
}

function enterRequest(unit: UnitOfWork, agent_id: string, request: Step['requests'][number]): void {
  const { model, started_at, duration_ms, usage } = request;
  unit.rows.insert('requests', {
    ...{ agent_id, model, started_at, duration_ms },
    ...{ input_tokens: usage.input, output_tokens: usage.output },
    ...{ cached_tokens: usage.cached, reasoning_tokens: usage.reasoning, cost_usd: usage.cost_usd },
  });
}

/** Updates the counters of the tree; `recordEnd` subtracts agents that end. */
function count(unit: UnitOfWork, { create, requests }: Step, root_id: string): void {
  if (create.length === 0 && requests.length === 0) return;
  const tree = unit.tree(root_id) as TreeFacts;
  let { tokens, cached_tokens, cost_usd } = tree;
  const before = unit.limits(tree);
  let limits = before;
  for (const { usage, is_free } of requests) {
    const counted = amountsOf(usage).tokens;
    tokens += usage.input + usage.output;
    cached_tokens += usage.input + usage.output - counted;
    if (is_free && limits.usual) limits = { ...limits, free: (limits.free ?? 0) + counted };
    cost_usd += usage.cost_usd ?? 0;
  }
  unit.setTree(tree, {
    ...{ tokens, cached_tokens, cost_usd, ...(limits !== before && { limits: JSON.stringify(limits) }) },
    live: tree.live + create.length,
    total: tree.total + create.length,
  });
}

/**
 * Returns the newly awaited agents that have settled already, or asked, and so may send no signal any more, and all for whom agents in a circle with this one
 * wait.
 */
function setWaitEdges(unit: UnitOfWork, step: Step): readonly string[] {
  const { agent_id: waiter, waits_for } = step;
  // A circle stands still from when all its agents do nothing but wait.
  if (waits_for === null && !onlyWaits(step.state)) return [];
  const known = new Set(unit.edges(waiter).map(({ target }) => target));
  if (waits_for !== null) unit.setEdges(waiter, edgesOf(step));
  const edgesFrom = (id: string) => unit.edges(id);
  const closes = ({ target }: WaitEdge) => findWaitCycle(waiter, { target, until: 0 }, edgesFrom) !== null;
  const circle = new Set(edgesFrom(waiter).some(closes) ? [waiter] : []);
  for (const id of circle) for (const { target } of unit.edges(id)) circle.add(target);
  unit.prefetch({ agent: circle });
  const members = [...circle].flatMap((id) => unit.agent(id) ?? []);
  // Which wait is freed, its leader decides: each one is told of all the others.
  for (const one of new Map(members.map((member) => [member.worker, member])).values())
    for (const { id, worker } of members)
      if (worker !== one.worker) signal(unit, one, members[0]?.worker ?? null, 'status', id);
  enterUnled(unit, members);
  const isSilent = (id: string) => isSettled(unit, id) || hasLetter(unit, waiter, id);
  return [...(waits_for ?? []).filter((id) => !known.has(id) && isSilent(id)), ...circle];
}

/** Removes the conversation of an ended child without children; its row in the run history stays. */
function removeChild(unit: UnitOfWork, id: string, parent_id: string, at: number): void {
  const child = unit.agent(id);
  if (child?.parent_id !== parent_id || !isTerminal(child.status) || unit.hasChildren(id)) return;
  unit.removeAgent(child);
  markRunCleaned(unit, id, at);
}

function voidAsk(unit: UnitOfWork, id: string, at: number): void {
  const ask = unit.ask(id);
  if (ask?.verdict === null) unit.answerAsk(ask, { verdict: 'void', answered_at: at });
}
