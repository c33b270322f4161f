import type { Agent } from '../../../records/agent/agent.ts';
import { type ChildResult, isFanIn, isTerminal, isWorking } from '../../../records/agent/state.ts';
import type { WaitStatus } from '../../../records/conversation/facts/wait-row.ts';
import { pauseOf } from '../../../records/conversation/parked.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { type AgentPane, paneOf, type UiState } from '../ui-state.ts';
import { type Branch, branches } from './family.ts';
import { openWait } from './open-waits.ts';

interface Awaited {
  readonly agent_id: string;
  /** `waiting`: for its provider. */
  readonly status: WaitStatus | 'waiting';
}

/** One of several agents. */
export interface FanOutRow extends Awaited {
  readonly name: string;
  /** Its branch; undefined if the agent is gone. */
  readonly branch: Branch | undefined;
}

/** Several agents that one has started or waits for. */
export interface FanOutView {
  /** `wait 3 agents`. */
  readonly head: string;
  /** Whether the agent in view goes on when all of them are done. */
  readonly awaited: boolean;
  readonly since: number | null;
  readonly until: number | null;
  readonly rows: readonly FanOutRow[];
  /** Calls that the block represents: they need no line of their own. */
  readonly call_ids: readonly string[];
}

type FanIn = Omit<FanOutView, 'rows' | 'awaited'> & { readonly rows: readonly Awaited[] };

const NO_TIME = { since: null, until: null };

/** The agents that this one waits for, in the order in which it named or created them; null when it waits for none. */
export function fanInView(state: UiState, agent_id: string): FanOutView | null {
  const agent = state.agents.get(agent_id);
  if (agent === undefined) return null;
  const pane = paneOf(state, agent_id);
  const view = waitView(state, agent, pane) ?? spawnView(state, agent) ?? delegateView(state, agent, pane);
  if (view === null) return null;
  const ids = new Set(view.rows.map((row) => row.agent_id));
  const all = branches(state, ({ id }) => ids.has(id));
  const rows = view.rows.map((row) => {
    const branch = all.get(row.agent_id);
    return { ...row, name: clean(branch?.agent.name ?? row.agent_id.slice(0, 8)), branch };
  });
  return { ...view, awaited: true, rows };
}

/** The children of an agent that live or have living descendants, unless `without` leaves them out; null if none of them is at work, queued, or asks. */
export function childrenView(
  state: UiState,
  agent_id: string,
  without: (branch: Branch) => boolean,
): FanOutView | null {
  const all = [...branches(state, ({ parent_id }) => parent_id === agent_id).values()];
  const living = all.filter(
    (branch) => (branch.below > 0 || !isTerminal(branch.agent.state.type)) && !without(branch),
  );
  if (!living.some(({ busy, ask }) => busy || ask !== null)) return null;
  const rows = living.map((branch): FanOutRow => {
    const { id, name } = branch.agent;
    return {
      agent_id: id,
      name: clean(name),
      status: pauseOf(branch.agent.state) !== null ? 'waiting' : branch.busy ? 'running' : 'idle',
      branch,
    };
  });
  return { head: counted(rows.length, 'agent'), awaited: false, ...NO_TIME, rows, call_ids: [] };
}

function waitView(state: UiState, agent: Agent, pane: AgentPane): FanIn | null {
  const wait = openWait(agent);
  if (wait === null || wait.from === null) return null;
  const rows = wait.from.map((id) => row(state, id, pane.unread.has(id) ? 'received' : null));
  const call_ids = wait.call_id === null ? [] : [wait.call_id];
  return {
    head: `wait ${counted(rows.length, 'agent')}`,
    since: wait.started_at,
    until: wait.deadline,
    rows,
    call_ids,
  };
}

function spawnView(state: UiState, { state: at }: Agent): FanIn | null {
  const parked = isFanIn(at);
  if (!parked && (at.type !== 'executing' || at.spawned.length === 0)) return null;
  const results = parked ? at.results : at.early;
  const outcomes = new Map(results.map((result) => [result.agent_id, result]));
  const rows = at.spawned.map(({ agent_id }) => row(state, agent_id, statusOf(outcomes.get(agent_id))));
  const head =
    at.type === 'cancelling'
      ? `cancelling ${counted(at.pending.length, 'agent')}: ${clean(at.reason)}`
      : `spawn_agents ${counted(at.spawned.length, 'agent')}`;
  return { head, ...NO_TIME, rows, call_ids: [] };
}

function delegateView(state: UiState, { state: at }: Agent, pane: AgentPane): FanIn | null {
  if (at.type !== 'executing') return null;
  const open = at.running.filter((one) => one.child !== undefined);
  if (open.length === 0) return null;
  const delegates =
    pane.delegates.length > 0
      ? pane.delegates
      : open.map(({ call, child = '' }) => ({ call_id: call.id, agent_id: child }));
  const settled = new Set(at.results);
  const rows = delegates.map((one) => row(state, one.agent_id, settled.has(one.call_id) ? 'received' : null));
  const head = `${open[0]?.call.name} ${counted(rows.length, 'agent')}`;
  return { head, ...NO_TIME, rows, call_ids: open.map(({ call }) => call.id) };
}

function statusOf(result: ChildResult | undefined): WaitStatus | null {
  if (result === undefined) return null;
  return result.outcome.type === 'failure' && result.outcome.error_kind === 'killed' ? 'dead' : 'received';
}

function row(state: UiState, agent_id: string, known: WaitStatus | null): Awaited {
  const agent = state.agents.get(agent_id);
  const status = known ?? (agent === undefined ? 'dead' : standing(agent, paneOf(state, agent_id)));
  return { agent_id, status };
}

/** The status as `wait` reports it: unless it uses `slash`, an agent with unread mail counts as running, since it is about to read it. */
function standing(agent: Agent, pane: AgentPane): Awaited['status'] {
  if (isTerminal(agent.state.type)) return 'dead';
  if (pauseOf(agent.state) !== null) return 'waiting';
  const reads = pane.unread.size > 0 && !agent.config.toolsets.includes('slash');
  return isWorking(agent.state.type) || reads ? 'running' : 'idle';
}
