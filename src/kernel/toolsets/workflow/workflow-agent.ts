import { nameFault, storedName } from '../../../records/agent/agent-name.ts';
import { taskTerms } from '../../../records/agent/task-terms.ts';
import type { NewAgent } from '../../../records/run/new-agent.ts';
import { storable } from '../../../records/text/text.ts';
import type { WorkflowTerms } from '../../../records/workflow/workflow-terms.ts';
import { childConfig } from '../acts/child-config.ts';
import { newChild } from '../acts/new-child.ts';
import type { ToolsetView } from '../toolset.ts';

export interface WorkflowPlan {
  readonly id: string;
  readonly run_id: string;
  readonly workflow: WorkflowTerms;
  /** The phase of the script that starts it; undefined if none does. */
  readonly phase?: string | null;
}

/** A workflow run as a child of the caller, which is told of its end. It works at once: its own agents are what is queued. */
export function workflowAgent(view: ToolsetView, { id, run_id, workflow, phase }: WorkflowPlan): NewAgent {
  const { self } = view;
  const { name } = workflow;
  const own = phase === undefined ? {} : { workflow: { phase } };
  const task = taskTerms({ kind: 'session', label: name, run_id, ...own });
  const config = childConfig(self.config, { profile: null, id, task });
  // What a script starts is known by its key (`OF_WORKFLOWS`, src/store/ledger/sql-conditions.ts).
  const session_key = `agent:main:workflow${phase === undefined ? '-run' : ''}:${id}`;
  const text = workflowText(workflow);
  return newChild(view, {
    ...{ id, origin: 'session', name: runName(name), session_key, inherits: false },
    config: { ...config, workflow },
    first: { origin: 'task', text },
    run: {
      ...{
        id: run_id,
        source: 'subagent',
        session_key,
        requester_id: self.id,
        requester_key: self.session_key,
      },
      ...{ task: storable(text), label: storable(name), model: config.model, thinking: config.thinking },
      ...{ timeout_ms: null, cleanup: 'keep', deliver: [], job_id: null },
    },
  });
}

/** The name of a run's agent: that of the workflow, unless it could be mistaken for somebody. */
export function runName(name: string): string {
  return nameFault(name) === null ? storedName(name) : storedName(`workflow ${name}`);
}

/** The first message of a run, for people: its script does not read it. */
export function workflowText({ name, description, args, ask }: WorkflowTerms): string {
  if (ask !== undefined) return `Ask a person: ${ask.question}`;
  return `Workflow ${name}: ${description}${args === undefined ? '' : `\n\nargs: ${args}`}`;
}
