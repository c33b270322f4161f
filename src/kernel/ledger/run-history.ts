import { isWorking } from '../../records/agent/state.ts';
import { deliveryId, type NewDelivery, splitTarget } from '../../records/run/delivery.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { outcomeOf, storedOutcome } from '../../records/run/outcome.ts';
import type { NewRun } from '../../records/run/run.ts';
import { runOutcome } from '../../records/run/run-end.ts';
import type { Step } from '../step.ts';
import type { AgentFacts } from './facts.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { signal } from './unled.ts';

/** Maximum queued runs of a tree that are considered when one of its runs ends. */
export const QUEUED_BATCH = 32;

export function addRun(unit: UnitOfWork, agent: NewAgent['agent'], run: NewRun): void {
  const begun = isWorking(agent.state.type);
  const started_at = begun ? agent.created_at : null;
  const { id: agent_id, root_id, created_at } = agent;
  const deliver = JSON.stringify(run.deliver);
  unit.addRun(
    { id: run.id, root_id, agent_id, started_at, finished_at: null, deliver, cleaned_at: null },
    {
      ...run,
      ...{ root_id, agent_id, deliver, created_at, started_at },
      ...{ status: begun ? 'running' : 'queued', result: null, error: null },
      ...{ finished_at: null, duration_ms: null, cleaned_at: null },
    },
  );
}

export function startRun(unit: UnitOfWork, agent_id: string, at: number): void {
  const run = unit.run(agent_id);
  if (run !== null && run.started_at === null) unit.setRun(run, { started_at: at }, { status: 'running' });
}

export type RunEnd = Pick<Step, 'state' | 'at' | 'outcome'> & {
  /** What an agent that was killed had said so far. */
  readonly partial?: string;
};

/** Closes the run of an agent that has ended, and enters a delivery for each of the run's targets. */
export function finishRun(unit: UnitOfWork, agent: Pick<AgentFacts, 'id' | 'origin'>, end: RunEnd): void {
  const { state, at, outcome: told = outcomeOf({ state }) } = end;
  const outcome = runOutcome(state, agent.origin);
  const run = unit.run(agent.id);
  if (outcome === null || run === null || run.finished_at !== null) return;
  const { status, error } = outcome;
  const result = outcome.result ?? end.partial ?? null;
  const duration_ms = Math.max(0, at - (run.started_at ?? at));
  unit.setRun(run, { finished_at: at }, { status, result, error, duration_ms, ...storedOutcome(told) });
  for (const [place, target] of (JSON.parse(run.deliver) as string[]).entries())
    enterDelivery(unit, {
      id: deliveryId('run', run.id, place),
      kind: 'run',
      target,
      root_id: run.root_id,
      agent_id: agent.id,
      about: run.id,
      body: null,
      created_at: at,
    });
}

/** Signals to the workers that lead queued runs of the tree that the background run of `about` has ended, so that one of them may begin. */
export function signalQueued(unit: UnitOfWork, about: string, writer: string | null): void {
  const signalled = new Set([writer]);
  for (const run of unit.facts.get('queued', about)) {
    if (!signalled.has(run.worker)) signal(unit, run, writer, 'status', about);
    signalled.add(run.worker);
  }
}

export function markRunCleaned(unit: UnitOfWork, agent_id: string, at: number): void {
  const run = unit.run(agent_id);
  if (run !== null && run.cleaned_at === null) unit.setRun(run, { cleaned_at: at });
}

export function enterDelivery(unit: UnitOfWork, delivery: NewDelivery): void {
  const { outcome = null, outcome_text = null } = delivery;
  unit.rows.offer('deliveries', {
    ...{ ...delivery, outcome, outcome_text },
    channel: splitTarget(delivery.target).channel,
    status: 'pending',
    attempts: 0,
    next_at: delivery.created_at,
    ...{ worker: null, error: null, progress: null, ended_at: null },
  });
}
