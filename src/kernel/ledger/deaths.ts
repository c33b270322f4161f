import type { AgentState } from '../../records/agent/state.ts';
import type { NewMail } from '../../records/conversation/mail.ts';
import type { AgentFacts, TreeFacts } from './facts.ts';
import { killEvent } from './kill-event.ts';
import { leaveUnled, signal } from './leading.ts';
import { post, tellWaiters } from './mailbox.ts';
import { finishRun, isTask } from './runs.ts';
import type { Unit } from './unit.ts';

/** What follows from the end of an agent for whoever counted on it, however it ended. Its own row is the caller's. */
export function leave(unit: Unit, agent: AgentFacts, state: AgentState, at: number): void {
  if (isTask(agent.origin)) finishRun(unit, agent.id, state, at);
  unit.setEdges(agent.id, []);
  const parent = agent.parent_id === null ? null : unit.agent(agent.parent_id);
  if (parent !== null) unit.setAgent(parent, { living_children: parent.living_children - 1 });
  const tree = unit.tree(agent.root_id) as TreeFacts;
  unit.setTree(tree, { live: tree.live - 1 });
}

/** Law 9: the agent and every living descendant, in this one transaction. Returns their ids. `writer`: the worker that kills. */
export function kill(
  unit: Unit,
  agent_id: string,
  by: string,
  at: number,
  writer: string | null,
): readonly string[] {
  const doomed = unit.below(agent_id);
  const [target] = doomed;
  if (target === undefined) return [];
  const ids = doomed.map(({ id }) => id);
  const parents = doomed.flatMap(({ parent_id }) => parent_id ?? []);
  const runs = doomed.filter(({ origin }) => isTask(origin)).map(({ id }) => id);
  unit.want({ waiters: ids, edges: ids, open_asks: ids, run: runs, agent: parents });
  const content = JSON.stringify(killEvent(by, target, doomed.length - 1));
  const state: AgentState = { type: 'killed', by };
  const text = JSON.stringify(state);
  for (const { id } of doomed) {
    const agent = unit.agent(id) as AgentFacts;
    const seq = agent.last_seq + 1;
    unit.rows.insert('messages', { agent_id: id, seq, kind: 'event', content, at });
    unit.setAgent(
      agent,
      { status: 'killed', epoch: agent.epoch + 1, worker: null, last_seq: seq },
      { state: text, doing: null, updated_at: at, ended_at: at },
    );
    if (agent.worker === null) leaveUnled(unit, agent);
    for (const ask of unit.openAsks(id))
      unit.rows.update('asks', { id: ask, verdict: 'void', answered_at: at });
    leave(unit, agent, state, at);
    signal(unit, agent, writer, 'killed');
    unit.rows.notify(`agent_event_${id}`, 'killed');
  }
  const dead = new Set(ids);
  for (const agent of doomed) {
    tellWaiters(unit, agent.id, writer);
    const mail = outcomeOf(agent, dead, by, at);
    // The verdict does not show it, so its reader gets a signal also from its own worker.
    if (mail !== null && unit.isAlive(mail.to_id)) post(unit, mail, null);
  }
  return ids;
}

/** A parent that awaits an outcome gets one, also when the child was killed; null when nobody awaits it, or died along. */
function outcomeOf(agent: AgentFacts, dead: ReadonlySet<string>, by: string, at: number): NewMail | null {
  const { id, parent_id, origin } = agent;
  if (parent_id === null || dead.has(parent_id) || origin === 'fork' || origin === 'root') return null;
  const outcome = { type: 'failure', error: `Killed by ${by}`, error_kind: 'killed' };
  return {
    id: `killed-${id}`,
    root_id: agent.root_id,
    to_id: parent_id,
    from_id: id,
    from_name: agent.name,
    kind: origin === 'session' ? 'announce' : 'outcome',
    body: JSON.stringify({ agent_id: id, outcome }),
    sent_at: at,
  };
}
