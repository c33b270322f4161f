import { runName, workflowText } from '../../kernel/toolsets/workflow/workflow-agent.ts';
import type { LoadedScript } from '../../models/workflow/saved-scripts.ts';
import { type Agent, descendantsOf, isActive } from '../../records/agent/agent.ts';
import { nameOfTask } from '../../records/agent/agent-name.ts';
import { DEFAULT_LIMITS, type TreeLimits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import { clean } from '../../render/clean.ts';
import { nameHint } from '../../render/nearest-name.ts';
import type { StartOptions } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';
import { oneWorkflowRun } from './steer-runs.ts';

export interface Rerun {
  /** Instead of the script of the run. */
  readonly script?: Pick<LoadedScript, 'meta' | 'source' | 'within'> | undefined;
  /** JSON, instead of the arguments of the run. */
  readonly args?: string | undefined;
  /** Labels and phases of calls that are made anew. */
  readonly fresh?: readonly string[] | undefined;
  /** Instead of the targets of the run; each was checked. */
  readonly deliver?: readonly string[] | undefined;
}

export type RerunStart = StartOptions & Required<Pick<StartOptions, 'name' | 'limits'>>;

/**
 * A new run, for `RuntimeFace.start`, that takes what an ended one has wherever it asks for the same (docs/workflows.md#rerun). It has that run's configuration, so
 * its agents may do what those might. Rejects with `E_REFUSED` while the run is at work, and with `E_INVALID_ARGUMENT` for a label or phase that it does not have.
 */
export async function rerunWorkflow(
  store: Store,
  text: string,
  { script, args, fresh = [], deliver = [] }: Rerun,
): Promise<RerunStart> {
  const run = await oneWorkflowRun(store, text);
  const { id, root_id, config } = run;
  const all = await store.agents({ root_id });
  const agents = descendantsOf(id, all).filter((one) => one.id !== id);
  if ([run, ...agents].some(isActive))
    throw new CoppiceError('E_REFUSED', `the workflow run ${clean(run.name)} is still at work`, {
      hint: `Let it go on with coppice workflow resume ${id}, or end it first with coppice kill ${id}`,
    });
  const names = fresh.length === 0 ? new Set<string>() : await namesIn(store, run, agents);
  const unknown = fresh.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new CoppiceError('E_INVALID_ARGUMENT', `no call of the run has the label or phase "${unknown}"`, {
      hint: nameHint(unknown, [...names], 'Labels and phases'),
    });
  // Of the budgets above a run that an agent started, the nearest binds.
  const { task: _, worktree: __, budgets, ...root } = config;
  const { paused: ___, nested: ____, ...terms } = config.workflow as WorkflowTerms;
  // The same seed and the same first instant: the script asks for the same.
  const workflow: WorkflowTerms = {
    ...{ ...terms, reuses: { run: id, fresh } },
    ...(script && {
      ...{ name: script.meta.name, description: script.meta.description },
      ...{ script: script.source, within: script.within },
    }),
    ...(args === undefined ? {} : { args }),
    ...(deliver.length > 0 && { deliver }),
  };
  const kept: TreeLimits = (await store.tree(root_id))?.limits ?? DEFAULT_LIMITS;
  const { usual, free: _____, tokens, cost_usd, ...limits } = kept;
  const spending = usual === true ? {} : { tokens, cost_usd };
  return {
    ...{ name: runName(workflow.name), prompt: workflowText(workflow), limits: { ...limits, ...spending } },
    config: {
      ...{ ...root, workflow },
      ...(budgets && { budgets: budgets.slice(0, 1) }),
      ...(deliver.length > 0 && { deliver }),
    },
  };
}

/** Labels and phases of the calls of a run and of the workflows within it. */
async function namesIn(store: Store, run: Agent, agents: readonly Agent[]): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { id } of [run, ...agents.filter(({ config }) => config.workflow !== undefined)])
    for (const { kind, content } of await store.history(id))
      for (const part of kind === 'assistant' ? content.parts : []) {
        if (part.type !== 'call' || part.name === 'next' || part.name === 'skip') continue;
        const { prompt = '', label, phase } = JSON.parse(part.input) as Partial<Record<string, string>>;
        names.add(nameOfTask(prompt, label));
        if (phase !== undefined) names.add(phase);
      }
  return names;
}
