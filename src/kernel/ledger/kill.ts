import { type AgentConfig, isTask } from '../../records/agent/agent.ts';
import { deedsLine } from '../../records/agent/deeds-line.ts';
import { type AgentState, type Killed, killedState } from '../../records/agent/state.ts';
import { allTexts, saidIn } from '../../records/conversation/child-text.ts';
import type { Completion } from '../../records/conversation/facts/completion.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { EventContent, Message } from '../../records/conversation/message.ts';
import { orElse } from '../../records/coppice-error.ts';
import { counted, storable } from '../../records/text/text.ts';
import { closeBudget } from './budgets.ts';
import type { AgentFacts, TreeFacts } from './facts.ts';
import { post, signalWaiters } from './post-mail.ts';
import { finishRun, type RunEnd, signalQueued } from './run-history.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { leaveUnled, signal } from './unled.ts';

/** Updates everything outside the agent's own row that depends on its end, however it ended. */
export function recordEnd(unit: UnitOfWork, agent: AgentFacts, end: RunEnd): void {
  if (isTask(agent.origin)) finishRun(unit, agent, end);
  unit.setEdges(agent.id, []);
  if (agent.budget !== null) closeBudget(unit, agent);
  const parent = agent.parent_id === null ? null : unit.agent(agent.parent_id);
  if (parent !== null) unit.setAgent(parent, { living_children: parent.living_children - 1 });
  const tree = unit.tree(agent.root_id) as TreeFacts;
  unit.setTree(tree, { live: tree.live - 1 });
}

/** Law 9: kills the agent and every living descendant in one transaction. Returns their ids. `writer`: the worker that kills; `killer`: the agent. */
export function kill(
  unit: UnitOfWork,
  agent_id: string,
  by: string,
  at: number,
  writer: string | null,
  killer: string | null = null,
): readonly string[] {
  const doomed = unit.below(agent_id);
  const [target] = doomed;
  if (target === undefined) return [];
  const ids = doomed.map(({ id }) => id);
  const parents = doomed.flatMap(({ parent_id }) => parent_id ?? []);
  const freed = doomed.find(({ origin }) => origin === 'session');
  const runs = doomed.filter(({ origin }) => isTask(origin)).map(({ id }) => id);
  unit.prefetch({
    waiters: ids,
    edges: ids,
    open_asks: ids,
    run: runs,
    agent: parents,
    state: ids,
    queued: freed ? [freed.id] : [],
  });
  const content = JSON.stringify(killEvent(by, target, doomed.length - 1));
  // A fork at rest has reported already, and one in a person's wait has no turn.
  const in_turn = target.status !== 'waiting' && !unit.isAtRest(target);
  const cut = target.origin === 'fork' && target.parent_id !== killer && in_turn;
  const dead = new Set(ids);
  const awaited = doomed.filter((agent) => awaitsOutcome(agent, dead) || (agent.id === agent_id && cut));
  unit.prefetch({ config: awaited.map(({ id }) => id), spoken: awaited.map(({ id }) => id) });
  const said = new Map(awaited.map((agent) => [agent.id, saidSoFar(unit, agent)]));
  const states = new Map(ids.map((id) => [id, killedState(parseOrNull<AgentState>(unit.state(id)), by, at)]));
  for (const { id } of doomed) {
    const agent = unit.agent(id) as AgentFacts;
    const state = states.get(id) as Killed;
    const seq = agent.last_seq + 1;
    unit.rows.insert('messages', { agent_id: id, seq, kind: 'event', content, at, changed: null });
    unit.setAgent(
      agent,
      { status: 'killed', epoch: agent.epoch + 1, worker: null, last_seq: seq },
      { state: JSON.stringify(state), doing: null, updated_at: at, ended_at: at },
    );
    if (agent.worker === null) leaveUnled(unit, agent);
    for (const ask of unit.openAsks(id))
      unit.rows.update('asks', { id: ask, verdict: 'void', answered_at: at });
    recordEnd(unit, agent, { state, at, ...said.get(id) });
    signal(unit, agent, writer, 'killed');
    unit.rows.notify(`agent_event_${id}`, 'killed');
  }
  for (const { id } of doomed) signalWaiters(unit, id, writer);
  for (const agent of awaited) {
    const mail = outcomeOf(unit, agent, states.get(agent.id) as Killed, at, said.get(agent.id) ?? {});
    // No writer: the verdict does not report this mail, so the killing worker needs the signal too.
    if (unit.isAlive(mail.to_id)) post(unit, mail, null, unit.agent(agent.id)?.last_seq);
  }
  // A signalled worker checks the whole tree, so one of the killed background runs stands for all of them.
  if (freed !== undefined) signalQueued(unit, freed.id, writer);
  return ids;
}

/** Returns null for malformed JSON: an agent whose row is damaged can still be killed, but what it did is then unknown. */
function parseOrNull<T>(text: string | null): T | null {
  return orElse(() => JSON.parse(text ?? 'null') as T | null, null);
}

/** Whether the parent awaits the agent's outcome: not for forks (they report) and roots, nor if the parent was killed too. */
function awaitsOutcome({ parent_id, origin }: AgentFacts, dead: ReadonlySet<string>): boolean {
  return parent_id !== null && !dead.has(parent_id) && origin !== 'fork' && origin !== 'root';
}

/** What the agent had said in its run, or a fork since somebody last wrote to it; an answer that was still being written is not known to the ledger. */
function saidSoFar(unit: UnitOfWork, { id, origin }: AgentFacts): { readonly partial?: string } {
  const spoken = unit.facts.get('spoken', id).flatMap(({ kind, content: text }) => {
    const content = parseOrNull(text);
    return content === null ? [] : [{ kind, content } as Message];
  });
  spoken.reverse();
  const from = spoken.findLastIndex(({ kind, content }) => kind === 'user' && content.origin !== 'system');
  const partial = storable(allTexts(...saidIn(origin === 'fork' ? spoken.slice(from + 1) : spoken)));
  return partial === '' ? {} : { partial };
}

/** The mail that the parent gets instead of the outcome, or the report, that it awaits. */
function outcomeOf(
  unit: UnitOfWork,
  agent: AgentFacts,
  state: Killed,
  at: number,
  said: { readonly partial?: string },
): NewMail {
  const { id, origin } = agent;
  const outcome = { type: 'failure', error: `Killed by ${state.by}`, error_kind: 'killed', ...said };
  const config = parseOrNull<AgentConfig>(unit.facts.get('config', id));
  const did = config === null ? undefined : deedsLine({ config, state }, at);
  const told = did === undefined ? {} : { did };
  // For the model that reads it, `you` is itself.
  const error = `Killed by ${state.by === 'you' ? 'a person' : state.by}`;
  const report: Completion = { status: 'idle', success: false, outcome: 'stopped', error, ...said };
  const body = origin === 'fork' ? report : { agent_id: id, outcome, ...told };
  return {
    id: `killed-${id}`,
    root_id: agent.root_id,
    to_id: agent.parent_id as string,
    from_id: id,
    from_name: agent.name,
    kind: origin === 'session' ? 'announce' : origin === 'fork' ? 'report' : 'outcome',
    body: JSON.stringify(body),
    ...(origin === 'fork' ? told : {}),
    sent_at: at,
  };
}

/** The event appended to every killed agent: who killed whom, and how many. `by`: a display name, `you` for the human. */
function killEvent(
  by: string,
  target: { readonly id: string; readonly name: string },
  descendants: number,
): EventContent {
  return {
    event: 'killed',
    text: `kill event: ${target.name} by ${by}, ${counted(descendants, 'descendant')}`,
    data: { by, target: target.id, target_name: target.name, descendants },
  };
}
