import type { Barred } from '../../models/model.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { restAfterSummary } from '../../records/agent/state.ts';
import type { Store } from '../../store/store.ts';
import type { Executor } from '../executor/executor.ts';
import type { ExecutorOptions } from '../executor/executor-options.ts';
import { retryUntilReachable } from '../executor/ledger-retry.ts';

/** The workflow runs above an agent, nearest first, itself included. */
function runsAbove(agent: Agent, { agent_index }: Executor): Agent[] {
  if (restAfterSummary(agent.state) !== null) return [];
  return agent_index.lineage(agent).filter(({ config }) => config.workflow !== undefined);
}

function barredBy({ id, config }: Agent): Barred | null {
  const paused = config.workflow?.paused;
  if (paused === undefined) return null;
  const error = `${paused.stops ? 'stopped' : 'paused'} by ${paused.by}`;
  const failure = { kind: 'interrupted', error, retryable: true } as const;
  const text = `coppice workflow resume ${id.slice(0, 8)}`;
  return { spent: 'person', door: `run ${id}`, text, failure, tries: 0, wait_ms: null };
}

function first(runs: readonly (Agent | null)[]): Barred | null {
  for (const run of runs) {
    const barred = run === null ? null : barredBy(run);
    if (barred !== null) return barred;
  }
  return null;
}

/** Whether a person has paused a workflow run above the agent, as far as this process leads the runs. */
export function pausedHere(agent: Agent, executor: Executor): Barred | null {
  return first(runsAbove(agent, executor).map(({ id }) => executor.cells.get(id)?.agent ?? null));
}

/** The same, also of runs that other processes lead. Null at once for an agent without such a run. */
export function pausedByPerson(
  agent: Agent,
  context: Pick<ExecutorOptions, 'emit' | 'clock'> & {
    readonly executor: Executor;
    readonly store: Pick<Store, 'agent'>;
  },
  isOver: () => boolean,
): Promise<Barred | null> | Barred | null {
  const { executor, store } = context;
  const runs = runsAbove(agent, executor);
  if (runs.every(({ id }) => executor.cells.has(id))) return pausedHere(agent, executor);
  const read = () => Promise.all(runs.map(({ id }) => executor.cells.get(id)?.agent ?? store.agent(id)));
  return retryUntilReachable(context, read, isOver).then((found) =>
    found === null ? null : first(found.answer),
  );
}
