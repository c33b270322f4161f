import { randomUUID } from 'node:crypto';
import { runName, workflowText } from '../../kernel/toolsets/workflow/workflow-agent.ts';
import type { LoadedScript } from '../../models/workflow/saved-scripts.ts';
import { decide } from '../../permissions/decide.ts';
import { policyOf } from '../../permissions/policy.ts';
import { scriptSubject, WORKFLOW_PERMISSION } from '../../permissions/tool-permission.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { DEFAULT_CALLS, type WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import type { Root } from '../open-tree.ts';

export interface WorkflowStart {
  /** The value that the script sees as `args`, as JSON text. */
  readonly args?: string | undefined;
  /** Maximum calls of `agent()`. */
  readonly calls?: number | undefined;
}

/** A root agent that runs a script. */
export function workflowRoot<R extends Root>(
  root: R,
  { meta: { name, description }, source, within }: Pick<LoadedScript, 'meta' | 'source' | 'within'>,
  { args, calls = DEFAULT_CALLS }: WorkflowStart,
): R & { readonly name: string; readonly prompt: string } {
  const { tokens } = root.limits ?? {};
  const { deliver } = root.config;
  const workflow: WorkflowTerms = {
    ...{ name, description, script: source, within, seed: randomUUID(), started_at: Date.now(), calls },
    ...(args === undefined ? {} : { args }),
    ...(typeof tokens === 'number' ? { tokens } : {}),
    ...(deliver && { deliver }),
  };
  const config = { ...root.config, workflow };
  return { ...root, config, name: runName(name), prompt: workflowText(workflow) };
}

/** Whether the rules of a run's creator let a workflow start; `ask`: a person must say so. Rejects with `E_REFUSED` if they deny it. */
export function workflowVerdict(
  config: Pick<AgentConfig, 'permissions'>,
  { meta: { name }, hash }: Pick<LoadedScript, 'meta' | 'hash'>,
): 'allow' | 'ask' {
  const subject = scriptSubject(name, hash);
  const { verdict, rule } = decide(policyOf(config as AgentConfig), WORKFLOW_PERMISSION, subject);
  if (verdict === 'deny') throw notStarted(name, `denied by ${rule}`);
  return verdict;
}

export function notStarted(name: string, why: string): CoppiceError {
  return new CoppiceError('E_REFUSED', `the workflow ${name} was not started: ${why}`, {
    hint: `Allow it with the rule workflow:${name}; on the command line --allow "workflow:${name}" or --yes`,
  });
}
