import { isTerminal, isWorking } from '../../records/agent/state.ts';
import type { Refusal, Step, Verdict } from '../step.ts';
import { append, create, treeOf } from './births.ts';
import { kill, leave } from './deaths.ts';
import type { AgentFacts, TreeFacts, Wanted } from './facts.ts';
import { leaveUnled, seekLeader } from './leading.ts';
import { isSettled, post, tellWaiters } from './mailbox.ts';
import { cleanRun, enterDelivery, isTask, startRun } from './runs.ts';
import type { Unit } from './unit.ts';
import { findWaitCycle, type WaitEdge } from './wait-cycle.ts';

/** A step as the ledger is offered it. `token`: a mark of one without messages, by which it is known again when its answer was lost; null for all others. */
export interface Offer {
  readonly step: Step;
  readonly token: string | null;
}

/** What the steps of a group look at in any case, so that it can be read in one go. Gathered only where somebody reads it so. */
export function wantedBy(offers: readonly Offer[]): Wanted {
  const of = (keys: (step: Step, is_marked: boolean) => readonly string[]): Iterable<string> => ({
    *[Symbol.iterator]() {
      for (const { step, token } of offers) yield* keys(step, token !== null);
    },
  });
  return {
    agent: of(({ agent_id, kill, remove, waits_for, create, send }, is_marked) => {
      const made = new Set(create.map(({ agent }) => agent.id));
      const to = send.map(({ to_id }) => to_id).filter((id) => !made.has(id));
      return [agent_id, ...kill, ...remove, ...(waits_for ?? []), ...to, ...(is_marked ? made : [])];
    }),
    mail: of(({ consume, send }, is_marked) => [
      ...consume.map(({ mail_id }) => mail_id),
      ...(is_marked ? send.map(({ id }) => id) : []),
    ]),
    edges: of(({ agent_id, waits_for, state }) =>
      waits_for !== null || isTerminal(state.type) ? [agent_id, ...(waits_for ?? [])] : [],
    ),
    pending: of(({ waits_for }) => waits_for ?? []),
    waiters: of(({ agent_id, state }) => (isWorking(state.type) ? [] : [agent_id])),
    run: of(({ agent_id, state, consume }) =>
      isTerminal(state.type) || consume.length > 0 ? [agent_id] : [],
    ),
    ask: of(({ asks, void_asks }, is_marked) => [
      ...void_asks,
      ...(is_marked ? asks.map(({ id }) => id) : []),
    ]),
    below: of(({ kill }) => kill),
    children: of(({ remove }) => remove),
  };
}

/** Law 8: its writer leads the agent, and the step is built on what is there and was not applied before. Then the other guards, in the order of the contract (`core/step.ts`). */
export function admit(unit: Unit, { step, token }: Offer): Verdict {
  const agent = unit.agent(step.agent_id);
  if (
    agent === null ||
    agent.epoch !== step.epoch ||
    agent.last_seq !== step.base_seq ||
    isTerminal(agent.status) ||
    (unit.tree(agent.root_id) as TreeFacts).removal !== null ||
    (token !== null && (agent.last_write === token || isThere(unit, step)))
  )
    return { ok: false, refusal: { reason: 'stale' } };
  const refusal =
    overLimit(unit, step, agent) ??
    badRecipient(unit, step, agent) ??
    consumedLetter(unit, step) ??
    waitCycle(unit, step) ??
    badTarget(unit, step, agent);
  return refusal === null ? write(unit, step, agent, token) : { ok: false, refusal };
}

/** What a step makes is there already: its writer was not told that it was applied. */
function isThere(unit: Unit, step: Step): boolean {
  return (
    step.asks.some(({ id }) => unit.ask(id) !== null) ||
    step.create.some(({ agent }) => unit.agent(agent.id) !== null) ||
    step.send.some(({ id }) => unit.mail(id) !== null)
  );
}

type LimitName = Extract<Refusal, { reason: 'limit' }>['limit'];

/** Law 7: every path that creates an agent passes here. */
function overLimit(unit: Unit, step: Step, agent: AgentFacts): Refusal | null {
  const created = step.create.length;
  if (created === 0) return null;
  const tree = unit.tree(agent.root_id) as TreeFacts;
  const { root_id, live, total } = tree;
  const limits = unit.limits(tree);
  const check = (limit: LimitName, present: number, wanted = created): Refusal | null =>
    present + wanted > limits[limit] ? { reason: 'limit', limit, allowed: limits[limit], present } : null;
  // Who rests holds no place; they are counted only when there seems to be none.
  const checkBusy = (limit: 'children' | 'live', living: number, resting: () => number) =>
    check(limit, living) && check(limit, living - resting());
  return (
    check('depth', agent.depth, 1) ??
    checkBusy('children', agent.living_children, () => unit.restingChildren(agent.id)) ??
    checkBusy('live', live, () => unit.restingInTree(root_id)) ??
    check('total', total)
  );
}

function badRecipient(unit: Unit, step: Step, agent: AgentFacts): Refusal | null {
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
function consumedLetter(unit: Unit, step: Step): Refusal | null {
  const taken = step.consume.find(({ mail_id }) => !unit.isPending(mail_id, step.agent_id));
  return taken === undefined ? null : { reason: 'consumed', mail_id: taken.mail_id };
}

/** The edges that a step leaves its agent with. */
function edgesOf({ waits_for, waits_until }: Step): readonly WaitEdge[] {
  return (waits_for ?? []).map((target) => ({ target, until: waits_until[target] ?? null }));
}

/** Law 10. */
function waitCycle(unit: Unit, step: Step): Refusal | null {
  if (step.waits_for === null || step.waits_for.length === 0) return null;
  // Edges that are there form no such cycle: one can only go through a new one.
  const known = new Map(unit.edges(step.agent_id).map(({ target, until }) => [target, until]));
  const busy = step.waits_for.filter((id) => unit.edges(id).length > 0);
  unit.want({ reach: busy });
  unit.want({ edges: busy.flatMap((id) => unit.facts.get('reach', id)) });
  for (const edge of edgesOf(step)) {
    if (known.get(edge.target) === edge.until) continue;
    const path = findWaitCycle(step.agent_id, edge, (id) => unit.edges(id));
    if (path !== null) return { reason: 'cycle', path };
  }
  return null;
}

function badTarget(unit: Unit, step: Step, agent: AgentFacts): Refusal | null {
  const isBelow = (id: string): boolean => {
    const parent_id = unit.agent(id)?.parent_id ?? null;
    return parent_id !== null && (parent_id === agent.id || isBelow(parent_id));
  };
  const wrong = step.kill.find((id) => id === agent.id || !isBelow(id));
  return wrong === undefined ? null : { reason: 'target', agent_id: wrong };
}

function write(unit: Unit, step: Step, before: AgentFacts, token: string | null): Verdict {
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
      ...(step.config === undefined ? {} : { config: JSON.stringify(step.config) }),
      ...(ended ? { ended_at: at } : {}),
    },
  );
  for (const request of step.requests) enterRequest(unit, agent_id, request);
  for (const child of step.create) create(unit, child);
  count(unit, step, root_id);
  for (const { mail_id, seq } of step.consume) unit.consume(mail_id, seq);
  const sent = step.send.map((mail) => post(unit, mail, worker));
  const met = step.waits_for === null || ended ? [] : enterEdges(unit, step);
  if (ended) leave(unit, agent, state, at);
  else if (before.status === 'idle' && isTask(before.origin) && isWorking(state.type))
    startRun(unit, agent_id, at);
  if (!isWorking(state.type)) tellWaiters(unit, agent_id, worker);
  const killed = step.kill.flatMap((id) => kill(unit, id, name, at, worker));
  for (const id of step.remove) removeChild(unit, id, agent_id, at);
  for (const ask of step.asks) unit.addAsk(ask);
  for (const id of step.void_asks) voidAsk(unit, id, at);
  for (const delivery of step.deliver) enterDelivery(unit, delivery);
  if (worker === null) {
    leaveUnled(unit, agent);
    seekLeader(unit, [unit.agent(agent_id) as AgentFacts]);
  }
  return { ok: true, killed, sent, met, tree: treeOf(unit, unit.tree(root_id) as TreeFacts) };
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

function enterRequest(unit: Unit, agent_id: string, request: Step['requests'][number]): void {
  const { model, started_at, duration_ms, usage } = request;
  unit.rows.insert('requests', {
    ...{ agent_id, model, started_at, duration_ms },
    ...{ input_tokens: usage.input, output_tokens: usage.output },
    ...{ cached_tokens: usage.cached, reasoning_tokens: usage.reasoning, cost_usd: usage.cost_usd },
  });
}

/** The counters of its tree; whoever ends is taken off with what follows from the end. */
function count(unit: Unit, { create, requests }: Step, root_id: string): void {
  if (create.length === 0 && requests.length === 0) return;
  const tree = unit.tree(root_id) as TreeFacts;
  let { tokens, cost_usd } = tree;
  for (const { usage } of requests) {
    tokens += usage.input + usage.output;
    cost_usd += usage.cost_usd ?? 0;
  }
  unit.setTree(tree, {
    ...{ tokens, cost_usd },
    live: tree.live + create.length,
    total: tree.total + create.length,
  });
}

/** Whoever parks looks at those it waits for, in the transaction that says so; returns those that have come to rest already, and so tell nobody any more. */
function enterEdges(unit: Unit, step: Step): readonly string[] {
  const known = new Set(unit.edges(step.agent_id).map(({ target }) => target));
  unit.setEdges(step.agent_id, edgesOf(step));
  return (step.waits_for ?? []).filter((id) => !known.has(id) && isSettled(unit, id));
}

/** Of a child that has ended and has no children of its own the conversation goes; its row in the history stays. */
function removeChild(unit: Unit, id: string, parent_id: string, at: number): void {
  const child = unit.agent(id);
  if (child?.parent_id !== parent_id || !isTerminal(child.status) || unit.hasChildren(id)) return;
  unit.removeAgent(child);
  cleanRun(unit, id, at);
}

function voidAsk(unit: Unit, id: string, at: number): void {
  const ask = unit.ask(id);
  if (ask?.verdict === null) unit.answerAsk(ask, { verdict: 'void', answered_at: at });
}
