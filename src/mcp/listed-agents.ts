import { type Agent, isActive } from '../records/agent/agent.ts';
import { type AgentState, failureOf } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import type { WaitRow, WaitStatus } from '../records/conversation/facts/wait-row.ts';
import { type Outcome, outcomeOf } from '../records/run/outcome.ts';
import { isFinished, type Run } from '../records/run/run.ts';
import { outcomeOfRun } from '../records/run/run-end.ts';
import { clean } from '../render/clean.ts';
import type { Store } from '../store/store.ts';
import { restOf } from '../trees/rest.ts';

/** The end of an agent that did not finish its task, in the words of `coppice ps`; `dead` means killed. */
type BadEnd = 'failed' | 'cancelled' | 'dead';

/** Information for a client about one agent, in the form of a `wait` row (docs/mcp-server.md). */
export type Row = Omit<WaitRow, 'status'> &
  Partial<Outcome> & {
    readonly status: WaitStatus | BadEnd;
    /** The call that waits for a person's approval. */
    readonly approval?: string;
  };

/** Returns null if the agent has not ended, or ended well. */
function badEnd(state: AgentState): BadEnd | null {
  if (state.type === 'killed') return 'dead';
  if (state.type !== 'failed') return null;
  return state.failure.kind === 'cancelled' ? 'cancelled' : 'failed';
}

/** Returns the run that the agent was created for; null if there is none. */
export async function runOf({ config }: Agent, store: Store): Promise<Run | null> {
  const run_id = config.task?.run_id ?? null;
  return run_id === null ? null : ((await store.findRuns(run_id))[0] ?? null);
}

/** The row of a background run: its result stays in the run history, so it can be read repeatedly. */
export function runRow({ id, name, state }: Agent, run: Run): Row {
  const head = { agent_id: id, name, ...outcomeOfRun(run) };
  if (!isFinished(run.status)) return { ...head, status: 'running' };
  const message = run.result ?? '';
  if (run.status === 'completed')
    return { ...head, status: 'received', message, ...(run.error === null ? {} : { limit: run.error }) };
  const ended = {
    ...head,
    status: state.type === 'killed' ? 'dead' : run.status === 'cancelled' ? 'cancelled' : 'failed',
    error: failureOf(state)?.error ?? `${run.status}: ${run.error ?? 'no reason was recorded'}`,
  } as const;
  return message === '' ? ended : { ...ended, last_reply: message };
}

/**
 * The row of an agent of which only the state is known: a started tree, an agent of an
 * earlier connection, or one that has ended. `active`: the agent or one below it is at work.
 */
export function restRow(agent: Agent, active: boolean, now: number): Row {
  const { id, name, state, reply } = agent;
  const head = { agent_id: id, name, ...outcomeOf(agent) };
  const end = badEnd(state);
  const works = end === null && state.type !== 'completed' && active;
  const rest = restOf(agent, works, now);
  if (state.type === 'completed') return { ...head, status: 'received', message: state.result, ...rest };
  if (works) return { ...head, status: 'running', ...rest };
  const said = state.type === 'failed' ? (state.partial ?? reply) : reply;
  return {
    ...head,
    status: end ?? 'idle',
    ...(said ? { last_reply: said } : {}),
    ...rest,
  };
}

export function listedAgent(agent: Agent, asks: readonly Ask[]): object {
  const { id, parent_id, name, state, doing, calls, usage, config } = agent;
  const ask = asks.find(({ agent_id }) => agent_id === id);
  const failure = failureOf(state);
  return {
    agent_id: id,
    name,
    ...(parent_id === null ? {} : { parent_id }),
    status: state.type === 'completed' ? 'done' : (badEnd(state) ?? (isActive(agent) ? 'running' : 'idle')),
    ...outcomeOf(agent),
    ...(isActive(agent) || failure === null ? {} : { error: failure.error }),
    ...(doing === null ? {} : { doing }),
    model: config.model,
    tool_calls: calls,
    tokens: usage.input + usage.output,
    ...(usage.cost_usd === null ? {} : { cost_usd: usage.cost_usd }),
    ...(ask === undefined ? {} : { approval: askLine(ask) }),
  };
}

export function askLine({ tool, subject }: Pick<Ask, 'tool' | 'subject'>): string {
  return subject === '' ? tool : `${tool}: ${subject}`;
}

const SHOWN_AGENTS = 8;

/** Activity of the agents, on one line that clients show to people. */
export function doingLine(agents: readonly Agent[]): string {
  const shown = agents
    .slice(0, SHOWN_AGENTS)
    .map(({ name, doing }) => (doing === null ? name : `${name}: ${doing}`));
  const more = agents.length - shown.length;
  return clean([...shown, ...(more > 0 ? [`${more} more`] : [])].join(' · '));
}
