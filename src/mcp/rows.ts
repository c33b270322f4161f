import { failureJson } from '../documents/agent-json.ts';
import { type Agent, isActive } from '../records/agent/agent.ts';
import { deedsLine } from '../records/agent/deeds-line.ts';
import { failureOf, isTerminal } from '../records/agent/state.ts';
import type { Ask } from '../records/conversation/ask.ts';
import { cutShort } from '../records/conversation/child-text.ts';
import type { WaitRow } from '../records/conversation/wait.ts';
import { isFinished, type Run } from '../records/run/run.ts';
import type { Store } from '../store/store.ts';

/** What a client learns of one agent, as `wait` tells it (docs/mcp-server.md). */
export type Row = WaitRow & {
  /** What it waits for a person to allow. */
  readonly approval?: string;
};

/** The run that the agent was created for; null: none. */
export async function runOf({ config }: Agent, store: Store): Promise<Run | null> {
  const run_id = config.task?.run_id ?? null;
  return run_id === null ? null : ((await store.findRuns(run_id))[0] ?? null);
}

/** Of a background run: its result stays in the history, so it can be read again and again. */
export function runRow({ id, name }: Agent, run: Run): Row {
  const head = { agent_id: id, name };
  if (!isFinished(run.status)) return { ...head, status: 'running' };
  const message = run.result ?? '';
  if (run.status === 'completed')
    return { ...head, status: 'received', message, ...(run.error === null ? {} : { limit: run.error }) };
  return {
    ...head,
    status: 'dead',
    error: `${run.status}: ${run.error ?? 'no reason was kept'}`,
    ...(message === '' ? {} : { last_reply: message }),
  };
}

/** Of an agent that reports by what it says last: a started tree, or an agent of an earlier connection. `active`: it or one below it works. */
export function restRow(agent: Agent, active: boolean, now: number): Row {
  const { id, name, state, reply } = agent;
  const status = isTerminal(state.type) ? 'dead' : active ? 'running' : 'idle';
  const limit = cutShort(state);
  const did = deedsLine(agent, now);
  return {
    agent_id: id,
    name,
    status,
    ...(status === 'running' || !reply ? {} : { last_reply: reply }),
    ...(status === 'running' || failureOf(state) === null
      ? {}
      : { error: failureJson(agent)?.message ?? '' }),
    ...(status === 'running' || limit === null ? {} : { limit }),
    ...(did === undefined ? {} : { did }),
  };
}

/** One line of the list of agents. */
export function listedAgent(agent: Agent, asks: readonly Ask[]): object {
  const { id, parent_id, name, state, doing, calls, usage, config } = agent;
  const ask = asks.find(({ agent_id }) => agent_id === id);
  return {
    agent_id: id,
    name,
    ...(parent_id === null ? {} : { parent_id }),
    status: isTerminal(state.type) ? 'dead' : isActive(agent) ? 'running' : 'idle',
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
