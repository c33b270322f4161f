import type { Agent } from '../../../records/agent/agent.ts';
import { isTerminal, isWorking } from '../../../records/agent/state.ts';
import { addUsage, NO_USAGE } from '../../../records/agent/usage.ts';
import { outcomeOf } from '../../../records/run/outcome.ts';
import { hasFailed, withoutRetried } from '../../../trees/workflow/workflow-failure.ts';
import type { UiState } from '../ui-state.ts';

/** Runs that no other run started, oldest first. */
export function workflowRuns({ agents }: UiState): readonly Agent[] {
  return [...agents.values()].filter(
    ({ config, parent_id }) =>
      config.workflow !== undefined && agents.get(parent_id ?? '')?.config.workflow === undefined,
  );
}

/** A run at work takes precedence. */
export function newestRun(state: UiState): Agent | null {
  const runs = workflowRuns(state);
  return runs.findLast((run) => isWorking(run.state.type)) ?? runs.at(-1) ?? null;
}

export type WorkflowView = ReturnType<typeof workflowView>;

/** The agents of a run, and of those that it runs in turn, by phase in the order in which they began. `now`: the phase of the newest. */
export function workflowView({ agents }: UiState, run: Agent) {
  const runs = new Set([run.id]);
  // A child is always younger than its parent.
  const inside = withoutRetried([...agents.values()]).filter(({ id, parent_id, config: { workflow } }) => {
    const is_inside = runs.has(parent_id ?? '');
    const is_run = is_inside && workflow !== undefined && workflow.ask === undefined;
    if (is_run) runs.add(id);
    return is_inside && !is_run;
  });
  const phases = [...Map.groupBy(inside, phaseOf)].map(([title, some]) => ({ title, ...countsOf(some) }));
  const last = inside.at(-1);
  return { phases, now: last === undefined ? null : phaseOf(last), ...countsOf(inside) };
}

function phaseOf({ config }: Agent): string | null {
  return config.task?.workflow?.phase ?? null;
}

/** The selected agent; by default the first one at work, else the first. */
export function selectedOf({ phases }: WorkflowView, selected: string | null): string | null {
  const all = phases.flatMap(({ agents }) => agents);
  return (all.find(({ id }) => id === selected) ?? all.find((one) => !isEnded(one)) ?? all[0])?.id ?? null;
}

function countsOf(agents: readonly Agent[]) {
  const failed = agents.filter((agent) => hasFailed(outcomeOf(agent))).length;
  const { cost_usd } = agents.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const ended = agents.filter(isEnded);
  const last = ended.length < agents.length ? null : Math.max(...ended.map(endOf));
  const time = { began: agents[0]?.created_at ?? null, ended_at: last };
  return { agents, ended: ended.length, failed, cost_usd, ...time };
}

function endOf({ ended_at, updated_at, created_at }: Agent): number {
  return ended_at ?? updated_at ?? created_at;
}

function isEnded({ state }: Agent): boolean {
  return isTerminal(state.type) || state.type === 'errored';
}
