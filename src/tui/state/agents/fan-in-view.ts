import type { Agent } from '../../../records/agent/agent.ts';
import { type ChildResult, isFanIn, isTerminal, isWorking } from '../../../records/agent/state.ts';
import type { WaitStatus } from '../../../records/conversation/facts/wait-row.ts';
import { pauseOf } from '../../../records/conversation/parked.ts';
import { duration } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { type AgentPane, paneOf, type UiState } from '../ui-state.ts';
import { openWait } from './open-waits.ts';

export interface FanInRow {
  readonly agent_id: string;
  readonly name: string;
  /** `waiting`: for its provider. */
  readonly status: WaitStatus | 'waiting';
  readonly calls: number;
  readonly tokens: number;
}

/** The content of the status layer. */
export interface FanInView {
  /** `wait 30s on 3 agents`. */
  readonly head: string;
  readonly rows: readonly FanInRow[];
  /** Calls that the layer represents: they need no line of their own. */
  readonly call_ids: readonly string[];
}

/** The agents that this one waits for, in the order in which it named or created them; null when it waits for none. */
export function fanInView(state: UiState, agent_id: string): FanInView | null {
  const agent = state.agents.get(agent_id);
  if (agent === undefined) return null;
  const pane = paneOf(state, agent_id);
  return waitView(state, agent, pane) ?? spawnView(state, agent) ?? delegateView(state, agent, pane);
}

function waitView(state: UiState, agent: Agent, pane: AgentPane): FanInView | null {
  const wait = openWait(agent);
  if (wait === null || wait.from === null) return null;
  const head = `wait ${duration(wait.deadline - wait.started_at)} on ${agents(wait.from.length)}`;
  const rows = wait.from.map((id) => row(state, id, pane.unread.has(id) ? 'received' : null));
  return { head, rows, call_ids: wait.call_id === null ? [] : [wait.call_id] };
}

function spawnView(state: UiState, { state: at }: Agent): FanInView | null {
  const parked = isFanIn(at);
  if (!parked && (at.type !== 'executing' || at.spawned.length === 0)) return null;
  const results = parked ? at.results : at.early;
  const outcomes = new Map(results.map((result) => [result.agent_id, result]));
  const rows = at.spawned.map(({ agent_id }) => row(state, agent_id, statusOf(outcomes.get(agent_id))));
  const head =
    at.type === 'cancelling'
      ? `cancelling ${agents(at.pending.length)}: ${clean(at.reason)}`
      : `spawn_agents: ${results.length} of ${agents(at.spawned.length)} done`;
  return { head, rows, call_ids: [] };
}

function delegateView(state: UiState, { state: at }: Agent, pane: AgentPane): FanInView | null {
  if (at.type !== 'executing') return null;
  const open = at.running.filter((one) => one.child !== undefined);
  if (open.length === 0) return null;
  const delegates =
    pane.delegates.length > 0
      ? pane.delegates
      : open.map(({ call, child = '' }) => ({ call_id: call.id, agent_id: child }));
  const settled = new Set(at.results);
  const rows = delegates.map((one) => row(state, one.agent_id, settled.has(one.call_id) ? 'received' : null));
  const head = `${open[0]?.call.name}: ${rows.length - open.length} of ${agents(rows.length)} done`;
  return { head, rows, call_ids: open.map(({ call }) => call.id) };
}

function statusOf(result: ChildResult | undefined): WaitStatus | null {
  if (result === undefined) return null;
  return result.outcome.type === 'failure' && result.outcome.error_kind === 'killed' ? 'dead' : 'received';
}

function row(state: UiState, agent_id: string, known: WaitStatus | null): FanInRow {
  const agent = state.agents.get(agent_id);
  if (agent === undefined)
    return { agent_id, name: agent_id.slice(0, 8), status: known ?? 'dead', calls: 0, tokens: 0 };
  const { name, calls, usage } = agent;
  const status = known ?? standing(agent, paneOf(state, agent_id));
  return { agent_id, name: clean(name), status, calls, tokens: usage.input + usage.output };
}

/** The status as `wait` reports it: unless it uses `slash`, an agent with unread mail counts as running, since it is about to read it. */
function standing(agent: Agent, pane: AgentPane): FanInRow['status'] {
  if (isTerminal(agent.state.type)) return 'dead';
  if (pauseOf(agent.state) !== null) return 'waiting';
  const reads = pane.unread.size > 0 && !agent.config.toolsets.includes('slash');
  return isWorking(agent.state.type) || reads ? 'running' : 'idle';
}

function agents(count: number): string {
  return count === 1 ? '1 agent' : `${count} agents`;
}
